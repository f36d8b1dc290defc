# Installs the real programs that tests and benchmarks drive; sourced by bash scripts beside it.

# Takes lines of a program and the Debian package that brings it. Root on Debian gets what is
# missing; anyone else is told what will be lacking.
install_programs() {
  local missing=() program package
  while read -r program package; do
    [[ -z $program ]] || type -P "$program" >/dev/null || missing+=("$package")
  done <<<"$1"
  [[ ${#missing[@]} -eq 0 ]] && return
  if [[ $EUID -eq 0 && -e /etc/debian_version ]]; then
    apt_install "${missing[@]}" >&2 && return
  fi
  echo "Missing, by Debian's names: ${missing[*]}" >&2
  [[ ${CI-} != true ]]
}

# Whoever drives the programs starts servers on ports and in folders of its own, so a package must
# not start one as a service, and one that runs already is left alone (101 is "not now").
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

# The mirror that the system itself uses.
debian_mirror() {
  apt-get indextargets --format '$(REPO_URI)' |
    awk '/\/debian\/$/ { mirror = $0 }
      END { print mirror == "" ? "http://deb.debian.org/debian/" : mirror }'
}

# fetch_from_debian FOLDER TYPE SUITE WORD…: downloads into the folder what `apt-get WORD…` finds in
# that release of Debian, of type deb or deb-src. Nothing of the system's apt is known or touched.
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
