# What the commands of farwharf-server consist of.

PROGRAMS=/opt/farwharf            # a folder per version; the links current and previous lead to two of them
CONFIG=/etc/farwharf/service.toml
DATA=/var/lib/farwharf
COPIES=/var/backups/farwharf      # copies of the store, for root only
UNIT=/usr/local/lib/systemd/system/farwharf.service
OWN_UNIT=/etc/systemd/system/farwharf.service
COMMAND=/usr/local/bin/farwharf
THIS=/usr/local/sbin/farwharf-server
SERVICE_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin # what systemd gives to services

must_start=   # whether the service must be started again when this command ends early

prepare() {
  [ "$(id -u)" -eq 0 ] || refuse "Only root can do this. Run it with sudo."
  [ -d /run/systemd/system ] || refuse "This machine was not started with systemd, which runs the service."
  umask 022
  exec 9> /run/farwharf-server.lock
  flock -n 9 || refuse "Another farwharf-server runs. Wait for it."
  trap 'status=$?; [ -z "$must_start" ] || systemctl start farwharf; exit "$status"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

require_node() {
  PATH=$SERVICE_PATH command -v node > /dev/null ||
    refuse "Node.js is not in $SERVICE_PATH, where services find programs. Install it there for all users."
}

# Sets `build` to the folder of the tarball's version. Two builds of one version have different names.
unpack() {
  version=$(tar -xzOf "$1" package/package.json 2> /dev/null | PATH=$SERVICE_PATH node -e '
    const { name, version } = JSON.parse(require("fs").readFileSync(0, "utf8"));
    if (name !== "farwharf" || !/^\d[\w.+-]*$/.test(version)) process.exit(1);
    console.log(version);' 2> /dev/null) || refuse "$1 is not a tarball of Farwharf."
  sum=$(sha256sum < "$1")
  sum=${sum%% *}
  build=$PROGRAMS/$version-$(printf %.8s "$sum")
  say "farwharf $version, SHA-256 $sum"
  [ ! -d "$build" ] || return 0
  rm -rf "$build.partial"
  mkdir -p "$build.partial"
  tar -xzf "$1" -C "$build.partial" --strip-components=1 --no-same-owner --no-same-permissions
  chmod 0755 "$build.partial/dist/cli.mjs" "$build.partial/server/farwharf-server"
  sync -f "$build.partial"
  mv -T "$build.partial" "$build"
}

# A unit or command that was made by hand would be used in place of the installed one, or be overwritten.
refuse_foreign() {
  for path in "$@"; do
    [ -e "$path" ] || [ -L "$path" ] || continue
    case $(readlink "$path" || true) in
      "$PROGRAMS"/*) ;;
      *) refuse "$path was not made by farwharf-server. Move it away, then run this again. (Changes of the unit belong in its drop-in:  systemctl edit farwharf)" ;;
    esac
  done
}

require_runnable() {
  program "$1" --version > /dev/null || refuse "$(name "$1") does not run on this machine, as the user farwharf."
}

check() {
  program "$1" serve --config "$CONFIG" --data "$DATA" --check
}

# The commands and the unit of a version.
put_in_place() {
  mkdir -p "$(dirname "$UNIT")" "$(dirname "$COMMAND")" "$(dirname "$THIS")"
  link "$PROGRAMS/current/dist/cli.mjs" "$COMMAND"
  link "$PROGRAMS/current/server/farwharf-server" "$THIS"
  put "$1/docs/farwharf.service" "$UNIT" 0644 root
  systemctl daemon-reload
}

# Stops the service; it is started again if this command ends early.
stop() {
  case $(systemctl is-active farwharf) in
    inactive | failed | unknown) ;;
    *) must_start=yes ;;
  esac
  systemctl stop farwharf
}

# Starts the service, and waits until its administration answers. The upgrade of a large store takes a while.
start() {
  systemctl reset-failed farwharf 2> /dev/null || true
  systemctl start farwharf || return 1
  until PATH=$SERVICE_PATH node -e '
    require("net").connect(process.argv[1]).on("connect", () => process.exit(0)).on("error", () => process.exit(1));
  ' "$DATA/admin.sock"; do
    if ! systemctl is-active --quiet farwharf; then
      systemctl stop farwharf
      journalctl --unit farwharf --lines 20 --no-pager --output cat >&2 || true
      return 1
    fi
    sleep 0.5
  done
}

# Copies the store of the stopped service for a rollback from `build`.
copy_store() {
  [ -e "$DATA/service.db" ] || return 0
  # Opening it moves what a killed service left in the journal into the file, and checks that the credits balance.
  opens "$current" || refuse "$(name "$current") can't open the store, so it was not upgraded."
  copy_to "$COPIES/before-$(basename "$build")"
}

# Copies the store and its journal to a folder, completely or not at all.
copy_to() {
  install -d -m 0700 "$COPIES"
  rm -rf "$1.partial"
  mkdir -m 0700 "$1.partial"
  for file in "$DATA/service.db" "$DATA/service.db-wal"; do
    [ -e "$file" ] || continue
    # Read as the service's user: jobs may run as it, and could have put a link to a file of root there.
    runuser -u farwharf -- cat "$file" > "$1.partial/$(basename "$file")" || {
      rm -rf "$1.partial"
      refuse "The store could not be copied to $1."
    }
  done
  sync -f "$1.partial"
  rm -rf "$1"
  mv -T "$1.partial" "$1"
}

# Changes from `current` to the version before, if an interrupted rollback has not done that yet.
go_back() {
  previous=$(target previous)
  if [ "$previous" != "$current" ]; then
    stop
    if [ -e "$DATA/service.db" ] && ! opens "$previous"; then
      copy=$COPIES/before-$(basename "$current")
      [ -e "$copy/service.db" ] || refuse "$(name "$previous") can't open the store, and there is no copy of it from before the upgrade."
      [ -n "$1" ] || refuse "$(name "$previous") can't open the store, because $(name "$current") has changed its format or added restrictions to it. The copy from before the upgrade, of $(date -r "$copy/service.db" '+%F %T'), does not have the jobs, accounts, keys and credits that came since. If you accept that, run:  farwharf-server rollback --restore-store"
      restore_store "$copy"
    fi
    point current "$previous"
    must_start=
  fi
  put_in_place "$previous"
  start || refuse "$(name "$previous") does not start."
  rm -f "$PROGRAMS/previous"
}

# Puts a copy in the store's place, and keeps the store that it replaces.
restore_store() {
  kept=$COPIES/after-$(basename "$current")-$(date +%Y%m%dT%H%M%S)
  copy_to "$kept"
  install -m 0600 -o farwharf -g farwharf "$1/service.db" "$DATA/restored.partial"
  sync -f "$DATA/restored.partial"
  # With the journal of another store, the copy would be damaged.
  rm -f "$DATA/service.db-wal" "$DATA/service.db-shm"
  mv -T "$DATA/restored.partial" "$DATA/service.db"
  say "The store from before the upgrade is in place. The one that it replaced is in $kept."
}

# Whether a version can open the store of the stopped service.
opens() {
  program "$1" admin account list --data "$DATA" > /dev/null
}

# Runs the program of a version as the service's user, with the environment of services.
program() {
  folder=$1
  shift
  runuser -u farwharf -- env -i PATH="$SERVICE_PATH" HOME="$DATA" node "$folder/dist/cli.mjs" "$@"
}

# The folder that a link in PROGRAMS leads to; empty if it is missing.
target() {
  readlink "$PROGRAMS/$1" || true
}

name() {
  echo "farwharf $(basename "$1")"
}

point() {
  link "$2" "$PROGRAMS/$1"
}

# Replaces a link in one step.
link() {
  ln -sfn "$1" "$2.new"
  mv -T "$2.new" "$2"
}

# put FILE PATH MODE GROUP: replaces a file in one step.
put() {
  install -m "$3" -o root -g "$4" "$1" "$2.new"
  mv -T "$2.new" "$2"
}

say() {
  printf '%s\n' "$*"
}

refuse() {
  say "$*" >&2
  exit 1
}
