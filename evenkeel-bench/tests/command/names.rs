//! Names on the command line: repeated and unknown names are refused in words.

use crate::binary::refused;

#[test]
fn a_name_that_stands_twice_in_a_list_is_refused() {
    let quick = "--runtime tokio-hand --procs 1 --seconds 0.01 --repeats 1";
    refused(&format!("run --bench yield,yield {quick}"), "`yield` is named twice by --bench");
    for (line, words) in [
        (
            "--bench yield --runtime tokio-hand,tokio-hand --procs 1",
            "`tokio-hand` is named twice by --runtime",
        ),
        ("--bench yield --runtime tokio-hand --procs 1,2,1", "`1` is named twice by --procs"),
        (
            "--bench yield --runtime tokio-hand --procs 1 --procs 01",
            "`1` is named twice by --procs",
        ),
        (
            "--bench locality --variant share,share --runtime tokio-hand --procs 1",
            "`share` is named twice by --variant",
        ),
        ("--bench fib --n 5,6,5 --runtime evenkeel --procs 1", "`5` is named twice by --n"),
        ("--bench mutex --monitors 2,2 --runtime std", "`2` is named twice by --monitors"),
        ("--bench timers --variant idle,idle --procs 1", "`idle` is named twice by --variant"),
        ("--bench mixed --runtime evenkeel,evenkeel", "`evenkeel` is named twice by --runtime"),
        ("--bench travel --tasks-per-core 1,1", "`1` is named twice by --tasks-per-core"),
        ("--bench directory --kib 256,256", "`256` is named twice by --kib"),
        ("--bench scan --object-bytes 512,512", "`512` is named twice by --object-bytes"),
        ("--bench counters --objects 4,4", "`4` is named twice by --objects"),
        ("--bench map --keys 64,64", "`64` is named twice by --keys"),
        ("--bench directory --access read,read", "`read` is named twice by --access"),
        (
            "--bench directory --popularity uniform,uniform",
            "`uniform` is named twice by --popularity",
        ),
        ("--bench savina,savina --runtime evenkeel", "`savina` is named twice by --bench"),
    ] {
        refused(&format!("run {line} --seconds 0.01 --repeats 1"), words);
    }
    refused("simulate --bench heat,heat --seeds 1", "`heat` is named twice by --bench");
    refused("simulate --coretime --kib 64,64", "`64` is named twice by --kib");
}

#[test]
fn a_program_of_savina_beside_all_of_them_is_named_twice() {
    refused(
        "run --bench savina,savina_chameneos --runtime evenkeel",
        "`savina_chameneos` is named twice by --bench",
    );
}

/// A file that is read twice would have twice its replications.
#[test]
fn analyse_refuses_files_fields_and_contrasts_that_are_named_twice() {
    let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/code-size.jsonl");
    let about = "--columns processor --response size";
    refused(&format!("analyse {runs} {runs} {about}"), "code-size.jsonl` is named twice by FILE");
    let twice = format!("analyse {runs} {about} --rows workload,workload");
    refused(&twice, "`workload` is named twice by --rows");
    let twice = format!("analyse {runs} {about} --pool regime,regime");
    refused(&twice, "`regime` is named twice by --pool");
    // A field has one part in the design.
    for parts in ["--rows workload --pool workload", "--pool processor", "--rows processor"] {
        let twice = format!("analyse {runs} {about} {parts}");
        refused(&twice, "` is named twice by --rows, --pool and --columns");
    }
    let twice = format!("analyse {runs} {about} --contrast W,X --contrast W,X");
    refused(&twice, "`W,X` is named twice by --contrast");
}

#[test]
fn simulate_refuses_other_programs_and_names_its_own() {
    let known = "known are matmul, transpose, heat, cilksort";
    refused("simulate --bench foo", &format!("unknown program of simulate `foo`: {known}"));
    // A fork-join program, but not one of the paper's.
    refused("simulate --bench fib", &format!("unknown program of simulate `fib`: {known}"));
}
