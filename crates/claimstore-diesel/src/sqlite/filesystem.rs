//! Whether a file lies on a network.

use std::path::{Path, PathBuf};

/// The kind of network file system `path` lies on, where the system tells (Linux).
pub(crate) fn network_type(path: &str) -> Option<String> {
    let plain = path.strip_prefix("file:").unwrap_or(path);
    let plain = plain.split('?').next().unwrap_or(plain);
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    network_mount(&absolute(Path::new(plain)), &mounts)
}

/// The file itself need not exist yet.
fn absolute(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(path.file_name().unwrap_or_default())
}

fn network_mount(path: &Path, mounts: &str) -> Option<String> {
    const NETWORK: [&str; 9] =
        ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "glusterfs"];
    let mounted = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?.replace("\\040", " "), fields.next()?))
    });
    let (_, kind) = mounted.filter(|(at, _)| path.starts_with(at)).max_by_key(|(at, _)| at.len())?;
    NETWORK.contains(&kind).then(|| kind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "/dev/vda / ext4 rw 0 0\n\
        host:/share /mnt/share nfs4 rw 0 0\n\
        tmpfs /mnt/share/local tmpfs rw 0 0\n\
        //nas/a /mnt/with\\040blank cifs rw 0 0\n";

    #[test]
    fn the_innermost_mount_decides() {
        let kind = |path| network_mount(Path::new(path), MOUNTS);
        assert_eq!(kind("/var/work.db"), None);
        assert_eq!(kind("/mnt/share/work.db").as_deref(), Some("nfs4"));
        assert_eq!(kind("/mnt/share/local/work.db"), None);
        assert_eq!(kind("/mnt/with blank/work.db").as_deref(), Some("cifs"));
    }
}
