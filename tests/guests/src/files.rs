//! Attacks on the file system, as scripts: one operation a line, its outcome
//! behind it.
//!
//! `open[+follow][+write][+create][+truncate][+exclusive][+directory][+mutate] PATH`,
//! `read PATH`, `write PATH`, `list PATH`, `stat PATH`, `type PATH` (of the opened
//! object), `readlink PATH`, `mkdir PATH`, `rmdir PATH`, `unlink PATH`,
//! `rename OLD NEW`, `link OLD NEW`, `symlink TARGET NEW`, `set-size PATH`,
//! `set-times PATH`. A path may begin with `N:` for the Nth granted directory.

#[cfg(not(target_family = "wasm"))]
pub fn script(_: &str) -> String {
    String::new()
}

#[cfg(not(target_family = "wasm"))]
pub fn open_many() -> String {
    String::new()
}

#[cfg(not(target_family = "wasm"))]
pub fn reopen(_: &str) -> String {
    String::new()
}

#[cfg(target_family = "wasm")]
pub use wasm::{open_many, reopen, script};

#[cfg(target_family = "wasm")]
mod wasm {
    use wasip2::filesystem::preopens::get_directories;
    use wasip2::filesystem::types::{
        Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
    };

    type Outcome = Result<String, ErrorCode>;

    struct Roots(Vec<(Descriptor, String)>);

    impl Roots {
        fn at<'a>(&self, path: &'a str) -> (&Descriptor, &'a str) {
            match path.split_once(':') {
                Some((n, rest)) if n.parse::<usize>().is_ok() => {
                    (&self.0[n.parse::<usize>().unwrap()].0, rest)
                }
                _ => (&self.0[0].0, path),
            }
        }
    }

    pub fn script(lines: &str) -> String {
        let roots = Roots(get_directories());
        let mut out = String::new();
        for line in lines.lines() {
            let outcome = run(&roots, line);
            let outcome = outcome.unwrap_or_else(|code| code.name().to_owned());
            out.push_str(&format!("{line} => {outcome}\n"));
        }
        out
    }

    fn run(roots: &Roots, line: &str) -> Outcome {
        let mut words = line.splitn(3, ' ');
        let op = words.next().unwrap_or_default();
        let path = words.next().unwrap_or_default();
        let other = words.next().unwrap_or_default();
        let (dir, name) = roots.at(path);
        let ok = |()| "ok".to_owned();
        match op.split('+').next().unwrap_or_default() {
            "open" => open(dir, op, name).map(|_| "opened".into()),
            "read" => read(dir, name),
            "write" => {
                let file = open(dir, "open+write", name)?;
                file.write(b"guest", 0).map(|n| n.to_string())
            }
            "list" => list(dir, name),
            "stat" => dir
                .stat_at(PathFlags::empty(), name)
                .map(|s| format!("{:?} {}", s.type_, s.size)),
            "type" => open(dir, op, name)?.get_type().map(|t| format!("{t:?}")),
            "readlink" => dir.readlink_at(name),
            "mkdir" => dir.create_directory_at(name).map(ok),
            "rmdir" => dir.remove_directory_at(name).map(ok),
            "unlink" => dir.unlink_file_at(name).map(ok),
            "rename" => {
                let (to, new) = roots.at(other);
                dir.rename_at(name, to, new).map(ok)
            }
            "link" => {
                let (to, new) = roots.at(other);
                dir.link_at(PathFlags::empty(), name, to, new).map(ok)
            }
            "symlink" => {
                let (to, new) = roots.at(other);
                to.symlink_at(path, new).map(ok)
            }
            "set-size" => open(dir, op, name)?.set_size(0).map(ok),
            "set-times" => open(dir, op, name)?
                .set_times(NewTimestamp::Now, NewTimestamp::Now)
                .map(ok),
            _ => Ok(format!("no such operation {op}")),
        }
    }

    fn open(dir: &Descriptor, op: &str, path: &str) -> Result<Descriptor, ErrorCode> {
        let asked = |flag: &str| op.split('+').any(|part| part == flag);
        let mut how = OpenFlags::empty();
        for (flag, bit) in [
            ("create", OpenFlags::CREATE),
            ("truncate", OpenFlags::TRUNCATE),
            ("exclusive", OpenFlags::EXCLUSIVE),
            ("directory", OpenFlags::DIRECTORY),
        ] {
            if asked(flag) {
                how |= bit;
            }
        }
        let mut flags = DescriptorFlags::READ;
        if asked("write") {
            flags |= DescriptorFlags::WRITE;
        }
        if asked("mutate") {
            flags |= DescriptorFlags::MUTATE_DIRECTORY;
        }
        let follow = if asked("follow") {
            PathFlags::SYMLINK_FOLLOW
        } else {
            PathFlags::empty()
        };
        dir.open_at(follow, path, how, flags)
    }

    fn read(dir: &Descriptor, path: &str) -> Outcome {
        let file = open(dir, "open+follow", path)?;
        let (bytes, _) = file.read(1 << 16, 0)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn list(dir: &Descriptor, path: &str) -> Outcome {
        let dir = open(dir, "open+directory", path)?;
        let entries = dir.read_directory()?;
        let mut names = Vec::new();
        while let Some(entry) = entries.read_directory_entry()? {
            names.push(format!("{}:{:?}", entry.name, entry.type_));
        }
        names.sort();
        let count = names.len();
        names.truncate(20);
        Ok(format!("{count} {}", names.join(" ")))
    }

    /// Opens one directory until the host refuses.
    pub fn open_many() -> String {
        let roots = Roots(get_directories());
        let mut kept = Vec::new();
        for _ in 0..100_000 {
            match open(&roots.0[0].0, "open+directory", ".") {
                Ok(dir) => kept.push(dir),
                Err(code) => return format!("{} then {}", kept.len(), code.name()),
            }
        }
        format!("{} open", kept.len())
    }

    /// Reads one path again and again while the world around it changes; says
    /// every different content it saw.
    pub fn reopen(path: &str) -> String {
        let roots = Roots(get_directories());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..20_000 {
            seen.insert(read(&roots.0[0].0, path).unwrap_or_else(|code| code.name().to_owned()));
        }
        seen.into_iter().collect::<Vec<_>>().join("\n")
    }
}
