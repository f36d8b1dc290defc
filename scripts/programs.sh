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

# Prints the URL of the Debian mirror that the system uses.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI)' |
    awk '/\/debian\/$/ { mirror = $0 }
      END { print mirror == "" ? "http://deb.debian.org/debian/" : mirror }'
}

# fetch_from_debian FOLDER TYPE SUITE WORD…: runs `apt-get WORD…` in the folder with the packages of
# that Debian release; TYPE is deb or deb-src. It neither uses nor changes the system's apt state.
fetch_from_debian() {
  local folder=$1 type=$2 suite=$3 attempt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  shift 3
  mkdir -p "$folder"/lists/partial "$folder"/archives/partial
  : >"$folder/status"
  echo "$type [signed-by=$keyring] $(debian_mirror) $suite main" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<END
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::Cache "$folder";
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
Acquire::Retries "5";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Sandbox::User "root";
END
  for attempt in 1 2 3; do
    (cd "$folder" && export APT_CONFIG=$folder/apt.conf &&
      apt-get update -q --error-on=any && apt-get -q "$@") && return
    echo "The download failed ($attempt of 3)."
  done
  return 1
}
