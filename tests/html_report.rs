//! The report as a page and as pictures: that each plot shows its data, that what is not valid as it stands never looks as if it
//! were, that nothing of a run becomes markup, and that nothing is loaded.

#![allow(clippy::unwrap_used, reason = "in a test, also in its helpers, a panic is the report")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use votebench::claims;
use votebench::claims::record::Report;
use votebench::report::plot::svg::{Size, clean, inline, standalone};
use votebench::report::plot::{self, Figure};
use votebench::report::{self, html, latency, suites};
use votebench::result::record::{Class, Measurement, RunFile, Status, Value};
use votebench::result::{Loaded, intervals, read};

/// What must never come out as it went in.
const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>'&\u{0}\u{b}\u{ffff}]]>";

fn committed() -> Vec<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = std::fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    let mut runs: Vec<PathBuf> = folders.filter(|path| path.join("results.json").is_file()).collect();
    runs.sort();
    runs
}

/// All committed runs, with what lies beside them.
fn runs() -> Vec<Loaded> {
    committed().iter().map(|path| intervals::load(path).unwrap()).collect()
}

/// The page as the command writes it.
fn page(runs: &[Loaded]) -> String {
    html::page(runs, &judged(runs))
}

/// What the papers' claims come to by the runs.
fn judged(runs: &[Loaded]) -> Report {
    claims::judge(&claims::source::built_in().unwrap(), runs.iter().map(|loaded| loaded.run.clone()).collect())
}

/// The committed run of a suite that has most rows, the newest of such.
fn run_of(suite: &str) -> RunFile {
    let suite = suites::ALL.iter().find(|one| one.name == suite).unwrap();
    let of_it = runs().into_iter().map(|loaded| loaded.run).filter(|run| (suite.is_in)(run));
    of_it.max_by_key(|run| run.measurements.iter().map(|m| &m.protocol).collect::<BTreeSet<_>>().len()).unwrap()
}

fn figure(figures: Vec<Figure>, name: &str) -> Figure {
    figures.into_iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("there is no figure {name}"))
}

fn figure_of(run: RunFile, name: &str) -> Figure {
    figure(plot::of(&[run.into()]), name)
}

/// A drawing as its readers' XML parser sees it.
fn drawn(figure: &Figure) -> [String; 3] {
    let inlined = [Size::Wide, Size::Narrow].map(|size| clean(&inline(figure, size).into_string()));
    let [wide, narrow] = inlined;
    [wide, narrow, standalone(figure)]
}

/// The texts in a drawing, tooltips among them.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {}", svg.len()));
    document.descendants().filter(roxmltree::Node::is_text).filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// Numbers that are none, as they are written.
fn is_number_free(svg: &str) -> bool {
    let words = svg.split(|c: char| !c.is_ascii_alphabetic());
    words.clone().all(|word| word != "NaN" && word != "inf")
}

#[test]
fn every_plot_shows_every_row_of_its_data() {
    let figures = plot::of(&runs());
    assert!(figures.len() > 20, "only {} figures", figures.len());
    for one in &figures {
        let rows: Vec<&Vec<String>> = one.table.filled().flat_map(|group| &group.rows).collect();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row.len() == one.table.head.len()),
            "{}: its table",
            one.name
        );
        for svg in drawn(one) {
            assert!(is_number_free(&svg), "{}: {svg}", one.name);
            let texts = texts(&svg).join("\n");
            for row in rows.iter().filter(|row| row[0] != "the machine's own") {
                let noted = one.notes.iter().any(|note| note.contains(&row[0]));
                assert!(texts.contains(&row[0]) || noted, "{}: {} is not in it", one.name, row[0]);
            }
        }
        assert!(one.source.contains(&one.run) && one.source.contains("commit"), "{}: {}", one.name, one.source);
        assert!(one.unit.contains("better"), "{}: {}", one.name, one.unit);
    }
    let names: BTreeSet<&str> = figures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), figures.len(), "two figures have one name");
}

#[test]
fn the_same_runs_give_the_same_bytes() {
    let all = || plot::of(&runs()).iter().map(standalone).collect::<Vec<_>>();
    assert_eq!(all(), all());
    assert_eq!(page(&runs()), page(&runs()));
}

#[test]
fn figures_stand_beside_their_bars() {
    let texts = texts(&drawn(&figure_of(run_of("serialization"), "encode"))[0]);
    let run = run_of("serialization");
    let is_meant =
        |m: &&Measurement| m.metric == "time" && m.model.as_deref() == Some("encode") && m.workload.is_none();
    for m in run.measurements.iter().filter(is_meant).filter(|m| m.row.as_deref() == Some("chained")) {
        let ns = report::table::figure(m.number().unwrap());
        assert!(texts.contains(&ns) && texts.contains(&m.protocol), "{}: {ns}", m.protocol);
    }
}

#[test]
fn what_is_unfit_is_hatched_in_every_plot_of_a_rate() {
    let marked = |run: RunFile, name: &str| {
        let one = figure_of(run, name);
        let svg = drawn(&one)[0].clone();
        (svg.matches("url(#").count(), texts(&svg).iter().filter(|text| *text == "unfit").count(), one.notes.join("\n"))
    };
    let fit = |suite: &str| {
        let mut run = run_of(suite);
        run.measurements.iter_mut().for_each(|m| m.unfit = None);
        run
    };
    for (suite, name) in [("serialization", "encode"), ("latency", "round-trip-block")] {
        let (hatched, words, notes) = marked(fit(suite), name);
        assert!(hatched == 0 && words == 0 && !notes.contains("unfit"), "{name}: {notes}");
        let mut run = fit(suite);
        (run.conditions.fit, run.conditions.reasons) = (false, vec!["others used 40 %".to_owned()]);
        let (hatched, words, notes) = marked(run, name);
        // Each bar, and the legend.
        assert!(words > 15 && hatched == words + 1 && notes.contains("unfit: others used 40 %."), "{name}: {notes}");
    }
    let mut run = fit("latency");
    let row = run.measurements.iter_mut().find(|m| m.metric == "round-trip" && m.protocol == "grpc").unwrap();
    row.unfit = Some("its pairs were disturbed".to_owned());
    let (hatched, words, notes) = marked(run, "round-trip-block");
    assert!((hatched, words) == (2, 1) && notes.contains("grpc unfit: its pairs were disturbed."), "{notes}");
}

#[test]
fn what_has_no_figure_has_no_bar_and_says_why() {
    let mut run = run_of("latency");
    let is_trip = |m: &&mut Measurement| m.metric == "round-trip" && m.wait.as_deref() == Some("block");
    let states = [Status::NotMeasured, Status::Failed, Status::Unsupported];
    let protocols: Vec<String> = run
        .measurements
        .iter_mut()
        .filter(is_trip)
        .zip(states)
        .map(|(m, status)| {
            (m.status, m.reason, m.value, m.histogram) = (status, Some("for a reason".to_owned()), None, None);
            m.process_histograms.clear();
            m.protocol.clone()
        })
        .collect();
    let before = drawn(&figure_of(run_of("latency"), "round-trip-block"))[0].matches("<rect class=\"row\"").count();
    for name in ["round-trip-block", "codec-by-transport-block", "round-trip-percentiles-block"] {
        let one = figure_of(run.clone(), name);
        for (protocol, word) in protocols.iter().zip(["not measured", "failed", "unsupported"]) {
            assert!(one.notes.contains(&format!("{protocol} {word}: for a reason.")), "{name}: {:?}", one.notes);
        }
    }
    let svg = &drawn(&figure_of(run, "round-trip-block"))[0];
    assert_eq!(svg.matches("<rect class=\"row\"").count() + 3, before);
    assert!(texts(svg).iter().any(|text| text == "failed: for a reason"), "{svg}");
}

#[test]
fn a_row_that_failed_half_way_keeps_its_bar_and_its_mark() {
    let mut run = run_of("latency");
    let row = run.measurements.iter_mut().find(|m| m.metric == "round-trip" && m.protocol == "capnp").unwrap();
    (row.status, row.reason) = (Status::Failed, Some("the server closed the connection".to_owned()));
    let one = figure_of(run, "round-trip-block");
    let svg = &drawn(&one)[0];
    assert!(texts(svg).iter().any(|text| text == "failed") && svg.contains("class=\"suspect\""), "{svg}");
    assert!(one.notes.contains(&"capnp failed: the server closed the connection.".to_owned()), "{:?}", one.notes);
}

#[test]
fn a_saturated_row_is_open_and_says_at_what() {
    let mut loaded = runs().into_iter().find(|loaded| !loaded.intervals.is_empty()).unwrap();
    let row = loaded.run.measurements.iter_mut().find(|m| m.metric == "response").unwrap();
    let (name, reason) = (row.protocol.clone(), "saturated at 40344 messages/s".to_owned());
    (row.status, row.reason) = (Status::Saturated, Some(reason.clone()));
    for which in ["response-batched", "response-percentiles-batched", "response-over-time-batched"] {
        let one = figure(plot::of(std::slice::from_ref(&loaded)), which);
        assert!(
            one.notes.iter().any(|note| note.contains(&name) && note.contains(&reason)),
            "{which}: {:?}",
            one.notes
        );
        assert!(texts(&drawn(&one)[0]).iter().any(|text| text.contains("saturated")), "{which}");
    }
    let svg = &drawn(&figure(plot::of(&[loaded]), "response-over-time-batched"))[0];
    assert!(svg.contains("class=\"band\"") && svg.contains("class=\"veil\""), "no interval is shaded");
}

#[test]
fn nothing_of_a_run_becomes_markup() {
    let mut hostile = runs();
    for Loaded { run, .. } in &mut hostile {
        (run.conditions.fit, run.conditions.reasons) = (false, vec![HOSTILE.to_owned()]);
        for text in [&mut run.machine.cpu, &mut run.machine.kernel, &mut run.source.rustc, &mut run.run.started] {
            HOSTILE.clone_into(text);
        }
        for m in &mut run.measurements {
            m.protocol += HOSTILE;
            (m.reason, m.unfit) = (Some(HOSTILE.to_owned()), Some(HOSTILE.to_owned()));
            for name in ["codec", "transport"] {
                if m.settings.contains_key(name) {
                    m.settings.insert(name.to_owned(), HOSTILE.into());
                }
            }
        }
    }
    let figures = plot::of(&hostile);
    assert!(figures.len() > 15);
    for one in &figures {
        for svg in drawn(one) {
            let texts = texts(&svg);
            assert!(!svg.contains("<script") && !svg.contains("<img"), "{}", one.name);
            // The HTTP study's arms are a closed list: a name that is none of them is not drawn.
            let is_in_it = texts.iter().any(|text| text.contains("<script>alert(1)"));
            assert!(is_in_it || one.suite == "http", "{}: it is not in it", one.name);
        }
    }
    let page = page(&hostile);
    assert!(!page.contains("<script") && !page.contains("<img"), "markup of a run's in the page");
    assert!(!page.contains(['\u{0}', '\u{b}', '\u{ffff}']) && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = page(&runs());
    for word in
        ["http://", "https://", "<script", "<img", "<link", "<iframe", "@import", "url(http", " onload", " onclick"]
    {
        assert!(!page.contains(word), "{word} in the page");
    }
    for one in plot::of(&runs()) {
        let svg = standalone(&one).replacen("xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        assert!(!svg.contains("://") && !svg.contains("<image") && !svg.contains("href"), "{}", one.name);
    }
}

#[test]
fn a_section_that_nothing_belongs_to_is_left_out() {
    let text = page(&[run_of("instructions").into()]);
    assert!(text.contains("<section id=\"instructions\">") && text.contains("<section id=\"runs\">"));
    for suite in ["serialization", "latency", "sustained", "http"] {
        assert!(!text.contains(&format!("<section id=\"{suite}\">")), "{suite}");
    }
    let mut nothing = run_of("instructions");
    nothing.measurements.clear();
    assert!(plot::of(&[nothing.clone().into()]).is_empty());
    let of_nothing = page(&[nothing.clone().into()]);
    assert!(of_nothing.contains(&nothing.run.id) && !of_nothing.contains("id=\"claims\""));
    // Without the files beside it, a run has no figure over time, and all others.
    let run = run_of("sustained");
    let names: Vec<String> = plot::of(&[run.into()]).into_iter().map(|one| one.name).collect();
    assert!(names.contains(&"response-batched".to_owned()) && !names.iter().any(|name| name.contains("over-time")));
}

#[test]
fn what_was_not_counted_is_not_said_to_allocate_nothing() {
    let nothing = |run: RunFile| {
        let notes = figure_of(run, "codec-allocations").notes;
        notes.into_iter().find(|note| note.starts_with("No allocation in any model: ")).unwrap_or_default()
    };
    let has_zap = |note: &str| note.trim_end_matches('.').split([':', ',']).any(|name| name.trim() == "zap");
    let mut run = run_of("serialization");
    assert!(has_zap(&nothing(run.clone())));
    let is_count = |m: &&mut Measurement| m.metric == "allocations";
    for m in run.measurements.iter_mut().filter(is_count).filter(|m| m.protocol == "zap") {
        (m.value, m.status, m.reason) = (None, Status::NotMeasured, Some("no counting allocator".to_owned()));
    }
    assert!(!has_zap(&nothing(run.clone())), "{}", nothing(run.clone()));
    run.measurements.iter_mut().filter(is_count).for_each(|m| m.value = Some(Value::from(1.0)));
    assert_eq!(nothing(run), "", "all allocate");
}

#[test]
fn the_page_has_every_figure() {
    let page = page(&runs());
    for one in plot::of(&runs()) {
        assert!(page.contains(&format!("<figure id=\"figure-{}\">", one.name)), "{} of {}", one.name, one.suite);
    }
}

#[test]
fn the_page_has_the_tables_of_the_readme() {
    let page = page(&runs());
    let cells =
        |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    for Loaded { run, .. } in runs() {
        for suite in suites::ALL.iter().filter(|suite| (suite.is_in)(&run)) {
            for table in (suite.tables)(&run) {
                for row in table.filled().flat_map(|group| &group.rows) {
                    let line: Vec<String> = row[1..].iter().map(|cell| format!("<td>{}</td>", cells(cell))).collect();
                    assert!(page.contains(&line.concat()), "{}: {row:?}", table.title);
                }
            }
        }
        assert!(page.contains(&run.run.id) && page.contains(&run.source.commit));
    }
}

#[test]
fn what_the_papers_claim_stands_beside_what_was_measured() {
    let (page, report) = (page(&runs()), judged(&runs()));
    let escaped = |text: &str| {
        text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('`', "")
    };
    let section = &page[page.find("<section id=\"claims\">").unwrap()..];
    let section = &section[..section.find("</section>").unwrap() + "</section>".len()];
    let document = roxmltree::Document::parse(section).unwrap();
    let text: String = document.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect();
    assert!(report.papers.len() >= 2);
    let verdicts = [&report.summary.orders, &report.summary.counts];
    assert!(verdicts.iter().all(|tally| tally.reproduced + tally.contradicted > 0), "nothing is judged");
    for paper in &report.papers {
        assert!(text.contains(&paper.source.replace('`', "")), "{}", paper.source);
        for claim in &paper.claims {
            assert!(section.contains(&escaped(&claim.claim)), "{}", claim.claim);
        }
        for table in &paper.tables {
            assert!(text.contains(&table.title.replace('`', "")), "{}", table.title);
            for cell in &table.cells {
                assert!(section.contains(&escaped(&cell.label)), "{}", cell.label);
            }
        }
    }
    assert!(text.contains("reproduced") && text.contains("contradicted"));
}

#[test]
fn a_machine_that_was_unfit_and_a_run_that_broke_off_say_so_at_the_head() {
    let good = page(&[run_of("latency").into()]);
    assert!(good.contains("✓ machine fit") && !good.contains("✗"));
    let mut run = run_of("latency");
    (run.conditions.fit, run.conditions.reasons) = (false, vec!["the machine was warm".to_owned()]);
    (run.run.complete, run.source.dirty) = (false, true);
    let bad = page(&[run.into()]);
    for words in ["✗ machine unfit", "the machine was warm", "✗ incomplete", "✗ changes not committed"] {
        assert!(bad.contains(words), "{words}");
    }
}

/// Capacities of a run with so many connections.
fn capacities(connections: u64, of_zap: f64) -> RunFile {
    let mut run = run_of("sustained");
    run.run.id = format!("20260101T00000{connections}Z-0123456789ab");
    run.settings.insert("connections".to_owned(), connections.into());
    run.measurements.retain(|m| m.metric == "capacity" && ["zap", "grpc"].contains(&m.protocol.as_str()));
    for m in &mut run.measurements {
        (m.status, m.reason, m.class) = (Status::Ok, None, Some(Class::Row));
        let rate = if m.protocol == "zap" { of_zap } else { 20_000.0 };
        m.value = Some(Value::from(rate));
    }
    run
}

#[test]
fn throughput_against_connections_needs_runs_that_differ_in_nothing_else() {
    let has = |runs: &[RunFile]| {
        let runs: Vec<Loaded> = runs.iter().cloned().map(Loaded::from).collect();
        plot::of(&runs).into_iter().find(|one| one.name == "connections-batched")
    };
    let (one, four) = (capacities(1, 100_000.0), capacities(4, 150_000.0));
    assert!(has(std::slice::from_ref(&one)).is_none() && has(&[one.clone(), one.clone()]).is_none());
    let figure = has(&[four.clone(), one.clone()]).unwrap();
    let rows: Vec<String> = figure.table.filled().flat_map(|group| &group.rows).map(|row| row.join(" ")).collect();
    assert!(rows.contains(&"zap 1 100,000".to_owned()) && rows.contains(&"zap 4 150,000".to_owned()), "{rows:?}");
    assert!(figure.source.contains(&one.run.id) && figure.source.contains(&four.run.id));
    let mut elsewhere = four.clone();
    elsewhere.machine.fingerprint = "another".to_owned();
    assert!(has(&[one.clone(), elsewhere]).is_none());
    let mut other = four;
    other.settings.insert("in_flight".to_owned(), 1.into());
    assert!(has(&[one, other]).is_none());
}

#[test]
fn a_run_that_sought_nothing_but_capacities_has_a_section_of_its_own() {
    let sections = |run: &RunFile| {
        suites::ALL.iter().filter(|suite| (suite.is_in)(run)).map(|suite| suite.name).collect::<Vec<_>>()
    };
    let mut run = capacities(1, 100_000.0);
    assert_eq!(sections(&run), ["capacity"]);
    let failed = run.measurements.iter_mut().find(|m| m.protocol == "grpc").unwrap();
    (failed.value, failed.status, failed.reason) =
        (None, Status::Failed, Some("no rate that was tried was held".to_owned()));
    let figure = figure_of(run.clone(), "capacity");
    let words = figure.notes.join(" ") + &drawn(&figure).concat();
    assert!(words.contains("no rate that was tried was held") && words.contains("100,000"), "{words}");
    let text = report::capacity::markdown(&run);
    assert!(text.contains("| zap | 100,000 |") && text.contains("| grpc | failed |"), "{text}");
    assert!(text.contains("grpc, batched: failed: no rate that was tried was held."), "{text}");
    assert_eq!(sections(&run_of("sustained")), ["sustained"], "a saturated row's capacity stands below its load");
}

#[test]
fn the_example_of_a_results_file_is_drawn() {
    let example = read::parse(include_str!("../schemas/results.v1.example.json"), Path::new("example")).unwrap();
    assert!(latency::is_in(&example) && page(&[example.into()]).contains("server closed the connection after 812"));
}
