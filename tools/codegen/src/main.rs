//! What `scripts/codegen.sh` needs of the Rust schema compilers: protobuf with protox and prost-build (no protoc), its service
//! with tonic-prost-build, and the Cap'n Proto plugin that turns a parsed schema on stdin into Rust. Owns no paths on disk:
//! the script passes them; it knows the paths of the Rust modules that generated code names.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

const USAGE: &str = "usage: votebench-codegen protobuf PROTO OUT_DIR
       votebench-codegen service PROTO OUT_DIR
       votebench-codegen descriptors PROTO OUT_FILE
       votebench-codegen capnp OUT_DIR < CODE_GENERATOR_REQUEST";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["protobuf", proto, out] => protobuf(Path::new(proto), Path::new(out)),
        ["service", proto, out] => service(Path::new(proto), Path::new(out)),
        ["descriptors", proto, out] => descriptors(Path::new(proto), Path::new(out)),
        ["capnp", out] => capnp(Path::new(out)),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("votebench-codegen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes `vote_proto.rs`, whose byte fields are `Vec<u8>`, and `vote_proto_bytes.rs`, whose byte fields are
/// `bytes::Bytes` and can share the received buffer.
fn protobuf(proto: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = compile(proto)?;
    for (name, shared) in [("vote_proto", false), ("vote_proto_bytes", true)] {
        let scratch = out.join(format!("{name}.scratch"));
        fs::create_dir_all(&scratch)?;
        let mut config = prost_build::Config::new();
        config.out_dir(&scratch);
        if shared {
            config.bytes(["."]);
        }
        config.compile_fds(descriptors.clone())?;
        fs::rename(only_file(&scratch)?, out.join(format!("{name}.rs")))?;
        fs::remove_dir(&scratch)?;
    }
    Ok(())
}

/// Writes `vote_service.rs`, the client and the server of the service, and `vote_service.descriptors`, the serialized
/// `FileDescriptorSet` with which a server describes itself. Messages are those of [`protobuf`]'s `vote_proto.rs`, and they
/// go through a codec of this project's, which sets tonic's buffers.
fn service(proto: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = compile(proto)?;
    fs::write(out.join("vote_service.descriptors"), prost::Message::encode_to_vec(&descriptors))?;
    let scratch = out.join("vote_service.scratch");
    fs::create_dir_all(&scratch)?;
    tonic_prost_build::configure()
        .out_dir(&scratch)
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .extern_path(".votebench.v1.Vote", "crate::schema::generated::vote_proto::Vote")
        .codec_path("crate::schema::tonic_codec::ProstCodec")
        .compile_fds(descriptors)?;
    fs::rename(only_file(&scratch)?, out.join("vote_service.rs"))?;
    Ok(fs::remove_dir(&scratch)?)
}

/// Writes the serialized `FileDescriptorSet`, from which any protobuf runtime can make message types without protoc.
fn descriptors(proto: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(out, prost::Message::encode_to_vec(&compile(proto)?))?)
}

fn compile(proto: &Path) -> Result<prost_types::FileDescriptorSet, Box<dyn Error>> {
    let include = proto.parent().ok_or("the proto file has no directory")?;
    Ok(protox::compile([proto], [include])?)
}

/// The one file that prost-build wrote; it names it after the protobuf package.
fn only_file(directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let files = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    match &files[..] {
        [file] => Ok(file.clone()),
        _ => Err(format!("{} files in {} instead of one", files.len(), directory.display()).into()),
    }
}

/// Writes the Rust of every schema of a code generator request on stdin, as `capnp compile -o-` makes it.
fn capnp(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut command = capnpc::codegen::CodeGenerationCommand::new();
    // Where the modules live, for the names that a nested type is called by.
    command.output_directory(out).default_parent_module(vec!["schema".into(), "generated".into()]);
    Ok(command.run(io::stdin().lock())?)
}
