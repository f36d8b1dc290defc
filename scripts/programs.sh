# Functions that install the programs which tests and benchmarks run; sourced by bash scripts.

# Takes lines with a program, or the path of a file, and its Debian package. Installs missing
# packages as root on Debian; otherwise prints them. Fails only in CI.
install_programs() {
  local missing=() program package
  while read -r program package; do
    [[ -z $program || ( $program == /* && -e $program ) ]] || type -P "$program" >/dev/null ||
      missing+=("$package")
  done <<<"$1"
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ $EUID -eq 0 && -e /etc/debian_version ]]; then
    apt_install "${missing[@]}" >&2 && return
  fi
  echo "Missing Debian packages: ${missing[*]}" >&2
  [[ ${CI-} != true ]]
}

# Installs packages without starting or restarting their services (policy-rc.d exit status 101,
# "action forbidden"), because tests and benchmarks start their own servers.
apt_install() {
  local policy=/usr/sbin/policy-rc.d written=false status=0
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy && written=true
  fi
  export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
  apt-get update -q &&
    apt-get install -q --yes --no-install-recommends --no-upgrade "$@" || status=$?
  [[ $written == false ]] || rm -f $policy
  return $status
}

# Waits while another process installs the program of that name into .programs/. The lock is kept
# until this process ends.
wait_for_other_installation() {
  mkdir -p .programs
  exec 8>".programs/$1.lock"
  flock 8
}

# install_from_npm NAME PACKAGE@VERSION…: installs npm packages with their dependencies into
# .programs/NAME, without running their scripts.
install_from_npm() {
  local folder=$PWD/.programs/$1
  wait_for_other_installation "$1"
  shift
  # Another version of this script may have installed other packages.
  [[ -e $folder && $(cat "$folder/installed" 2>/dev/null) == "$*" ]] && return
  echo "Installing $* for the tests …"
  rm -rf "$folder" "$folder.part"
  mkdir -p "$folder.part"
  echo '{ "private": true }' >"$folder.part/package.json"
  (cd "$folder.part" && npm install --silent --ignore-scripts --no-audit --no-fund "$@")
  echo "$*" >"$folder.part/installed"
  # Moved last, so that an interrupted installation is never taken as complete.
  mv "$folder.part" "$folder"
}

# Prints the URL of the Debian mirror that the system uses.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI)' |
    awk '/\/debian\/$/ { mirror = $0 }
      END { print mirror == "" ? "http://deb.debian.org/debian/" : mirror }'
}

# fetch_from_debian FOLDER TYPE SUITE WORD…: runs `apt-get WORD…` in the folder with the packages of
# that Debian release; TYPE is deb or deb-src. It neither uses nor changes the system's apt state.
# The package lists of a release are kept for an hour, because several programs come from it.
fetch_from_debian() {
  local folder=$1 type=$2 suite=$3 attempt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  local state=$PWD/.programs/apt-$type-$suite
  shift 3
  mkdir -p "$folder" "$state"/lists/partial "$state"/archives/partial
  for attempt in 1 2 3; do
    (
      flock 7
      [[ -n $(find "$state/updated" -mmin -60 2>/dev/null) ]] ||
        update_lists "$state" "$type [signed-by=$keyring] $(debian_mirror) $suite main"
    ) 7>"$state/lock" &&
      (cd "$folder" && APT_CONFIG=$state/apt.conf apt-get -q "$@") && return
    echo "The download failed ($attempt of 3)."
    # The mirror may have replaced a package since.
    rm -f "$state/updated"
  done
  return 1
}

# Takes a folder for the state of apt and a line of sources.list, and reads its package lists.
update_lists() {
  local state=$1
  : >"$state/status"
  echo "$2" >"$state/sources.list"
  cat >"$state/apt.conf" <<END
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Retries "5";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Sandbox::User "root";
END
  APT_CONFIG=$state/apt.conf apt-get update -q --error-on=any && touch "$state/updated"
}
