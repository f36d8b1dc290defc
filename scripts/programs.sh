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
