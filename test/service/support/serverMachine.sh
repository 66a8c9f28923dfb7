# Starts systemd on a copy of this machine that disappears with it: `unshare … bash serverMachine.sh FOLDER`.
# FOLDER is an empty folder; FOLDER/shared is visible in both machines, in the copy as /shared.
set -eu
folder=$1

mount -t tmpfs -o mode=0755 none "$folder/disk"
mkdir "$folder/disk/upper" "$folder/disk/work" "$folder/disk/root"
root=$folder/disk/root
mount -t overlay -o "lowerdir=/,upperdir=$folder/disk/upper,workdir=$folder/disk/work" none "$root"
mount -t proc none "$root/proc"
mount -t sysfs none "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
mount -t cgroup2 none "$root/sys/fs/cgroup"
for path in run tmp dev; do mount -t tmpfs -o mode=0755 none "$root/$path"; done
chmod 1777 "$root/tmp"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 none "$root/dev/pts"
mount -t tmpfs -o mode=1777 none "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mknod -m 0666 "$root/dev/null" c 1 3
mknod -m 0666 "$root/dev/zero" c 1 5
mknod -m 0666 "$root/dev/full" c 1 7
mknod -m 0666 "$root/dev/random" c 1 8
mknod -m 0666 "$root/dev/urandom" c 1 9
mknod -m 0666 "$root/dev/tty" c 5 0
mkdir -p "$root/shared"
mount --bind "$folder/shared" "$root/shared"

# Nothing of the machine itself starts, and nothing that an earlier installation left is used.
rm -rf "$root"/etc/systemd/system/* "$root/opt/farwharf" "$root/etc/farwharf" "$root/var/lib/farwharf"
echo farwharf-test > /proc/sys/kernel/hostname

# Bubblewrap does not work in a chroot.
mkdir -p "$root/mnt/before"
cd "$root"
pivot_root . mnt/before
umount -l /mnt/before
exec env -i container=farwharf-test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=basic.target --log-target=journal --show-status=no < /dev/null > /dev/null 2>&1
