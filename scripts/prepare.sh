# Brings a clone to the state in which it runs; sourced by the scripts beside it, from the root.

# One line each for what no script of ours can install.
require_node_and_git() {
  wanted=$(sed -n 's/^ *"node": "\(.*\)"$/\1/p' package.json)
  for program in node npm git; do
    command -v "$program" >/dev/null ||
      { echo "Gatehouse needs $program (Node.js $wanted) on the PATH." >&2 && exit 1; }
  done
  # Two comparisons, because the semver package may not be installed yet.
  node -e '
    const [, low, high] = />=(\S+) <(\S+)/.exec(process.argv[1])
    const number = (text) => text.split(".").reduce((sum, part, at) => sum + part / 1000 ** at, 0)
    const here = number(process.versions.node)
    process.exit(here >= number(low) && here < number(high) ? 0 : 1)
  ' "$wanted" ||
    { echo "Gatehouse needs Node.js $wanted; this one is $(node --version)." >&2 && exit 1; }
}

# Installs the npm packages when they are missing or are not those of the lock file.
install_packages() {
  # A linked folder is kept by whoever made the link.
  [ -L node_modules ] && return
  # Compiled packages fit one Node version, so it counts as well as the lock file.
  state=$(node -p 'process.version + process.platform + process.arch' && cksum <package-lock.json)
  # Written last: an install that was cut off never looks whole.
  [ "$(cat node_modules/.gatehouse-installed 2>/dev/null)" = "$state" ] && return
  # Where the SQLite driver has to be compiled, the headers beside Node save a download.
  prefix=$(node -p 'path.dirname(path.dirname(process.execPath))')
  if [ -z "${npm_config_nodedir-}" ] && [ -e "$prefix/include/node/node.h" ]; then
    export npm_config_nodedir="$prefix"
  fi
  echo 'Installing the npm packages (a minute or two) …' >&2
  rm -f node_modules/.gatehouse-installed
  npm ci --include=dev --no-audit --no-fund --loglevel=error >&2 ||
    { echo 'The npm packages could not be installed: see above.' >&2 && exit 1; }
  printf '%s\n' "$state" >node_modules/.gatehouse-installed
}

# Compiles when a source is newer than the last whole build, and drops what lost its source.
build() {
  [ -d dist ] && find dist -name '*.js' | while read -r output; do
    source=${output#dist/}
    source=${source%.js}
    [ -e "$source.ts" ] || [ -e "$source.tsx" ] || rm -f "$output" "$output.map"
  done
  if [ -e dist/.built ] && [ -z "$(newer_sources)" ]; then return; fi
  echo 'Compiling …' >&2
  # The moment before the compiler reads the sources: a change made meanwhile is newer.
  mkdir -p dist && touch "dist/.built.$$"
  npm run --silent build >&2 || {
    rm -f "dist/.built.$$"
    echo 'The sources do not compile: see above.' >&2
    exit 1
  }
  mv "dist/.built.$$" dist/.built
}

newer_sources() {
  find . \( -path './.*' -o -path ./node_modules -o -path ./dist -o -path ./data \) -prune -o \
    \( -name '*.ts' -o -name '*.tsx' -o -name package.json -o -name tsconfig.json \) \
    -newer dist/.built -print
}
