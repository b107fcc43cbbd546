//! The folders under `results/`: one a run, named `<UTC>-<commit>`, never overwritten. A file is written beside its place,
//! synced and renamed, so that it is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use time::OffsetDateTime;
use time::macros::format_description;

use super::check::check;
use super::error::ResultError;
use super::record::RunFile;
use super::source::Source;

/// A run's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The run's id, the name of the folder.
    pub id: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// Makes a new folder for a run that begins now, under `results`.
///
/// # Errors
/// Where it cannot be made or written: found out before anything is measured.
pub fn create(results: &Path) -> Result<Folder, ResultError> {
    let now = OffsetDateTime::now_utc();
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    let utc = now.format(&format).unwrap_or_else(|_| "19700101T000000Z".to_owned());
    create_named(results, &format!("{utc}-{}", Source::of_this_build().commit))
}

fn create_named(results: &Path, name: &str) -> Result<Folder, ResultError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| ResultError::Write { path, cause }
    };
    fs::create_dir_all(results).map_err(failed(results))?;
    for attempt in 1.. {
        let id = if attempt == 1 { name.to_owned() } else { format!("{name}-{attempt}") };
        let path = results.join(&id);
        match fs::create_dir(&path) {
            Ok(()) => {
                // A folder that can be made and not be written in is told from one that can only by writing.
                let trial = tempfile::NamedTempFile::new_in(&path).map_err(failed(&path))?;
                drop(trial);
                return Ok(Folder { id, path });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path)(error)),
        }
    }
    unreachable!("there is always a next number")
}

/// Writes `run` as the folder's `results.json` and gives the file's path. A file that is there already is replaced: a run
/// may save what it has, and save again.
///
/// # Errors
/// Where the run contradicts itself or the file cannot be written.
pub fn save(folder: &Folder, run: &RunFile) -> Result<PathBuf, ResultError> {
    let path = folder.path.join("results.json");
    check(run).map_err(|defect| ResultError::Defect { path: path.clone(), defect })?;
    write(&folder.path, &path, run).map_err(|cause| ResultError::Write { path: path.clone(), cause })?;
    Ok(path)
}

fn write(folder: &Path, path: &Path, run: &RunFile) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".results-").tempfile_in(folder)?;
    {
        let mut writer = io::BufWriter::new(file.as_file_mut());
        lines(&mut writer, run)?;
        writer.flush()?;
    }
    file.as_file().sync_all()?;
    // A temporary file is private by default; a results file is for everyone to read.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// The file as JSON with one line for each part and each measurement, so that a diff of two runs can be read.
fn lines(writer: &mut impl Write, run: &RunFile) -> io::Result<()> {
    let part = |value: serde_json::Result<String>| value.map_err(io::Error::from);
    writeln!(writer, "{{\n \"schema\": {},", part(serde_json::to_string(&run.schema))?)?;
    writeln!(writer, " \"run\": {},", part(serde_json::to_string(&run.run))?)?;
    writeln!(writer, " \"source\": {},", part(serde_json::to_string(&run.source))?)?;
    writeln!(writer, " \"machine\": {},", part(serde_json::to_string(&run.machine))?)?;
    writeln!(writer, " \"conditions\": {},", part(serde_json::to_string(&run.conditions))?)?;
    writeln!(writer, " \"settings\": {},", part(serde_json::to_string(&run.settings))?)?;
    writeln!(writer, " \"measurements\": [")?;
    for (index, measurement) in run.measurements.iter().enumerate() {
        let comma = if index + 1 == run.measurements.len() { "" } else { "," };
        writeln!(writer, "  {}{comma}", part(serde_json::to_string(measurement))?)?;
    }
    writeln!(writer, " ]\n}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::read;

    fn example() -> RunFile {
        read::parse(include_str!("../../schemas/results.v1.example.json"), Path::new("example")).unwrap()
    }

    #[test]
    fn never_takes_a_folder_twice() {
        let results = tempfile::tempdir().unwrap();
        let name = "20260101T000000Z-0123456789ab";
        let ids: Vec<_> = (0..3).map(|_| create_named(results.path(), name).unwrap().id).collect();
        assert_eq!(ids, [name.to_owned(), format!("{name}-2"), format!("{name}-3")]);
        assert!(super::super::check::is_run_id(&create(results.path()).unwrap().id));
    }

    #[test]
    fn what_is_saved_is_read_back_and_nothing_else_lies_there() {
        let results = tempfile::tempdir().unwrap();
        let folder = create(results.path()).unwrap();
        let path = save(&folder, &example()).unwrap();
        assert_eq!(read::run(&folder.path).unwrap(), example());
        assert_eq!(read::run(&path).unwrap(), example());
        save(&folder, &example()).unwrap();
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
    }

    #[test]
    fn refuses_to_write_what_it_would_not_read() {
        let results = tempfile::tempdir().unwrap();
        let folder = create(results.path()).unwrap();
        let mut run = example();
        run.measurements[0].floor_aa = Some(f64::NAN);
        assert!(matches!(save(&folder, &run), Err(ResultError::Defect { .. })));
        assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 0);
    }

    #[test]
    fn says_where_it_cannot_write() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = create(file.path()).unwrap_err().to_string();
        assert!(error.contains(&file.path().display().to_string()), "{error}");
    }
}
