/** Programming languages by file names and their extensions. */

const ENDINGS: Readonly<Record<string, string>> = {
  Ada: 'adb ads',
  Assembly: 'asm s',
  Astro: 'astro',
  Awk: 'awk',
  Batchfile: 'bat cmd',
  C: 'c h',
  'C#': 'cs csx',
  'C++': 'cc cpp cxx hh hpp hxx',
  Clojure: 'clj cljc cljs',
  CMake: 'cmake',
  CoffeeScript: 'coffee',
  'Common Lisp': 'lisp lsp',
  Crystal: 'cr',
  CSS: 'css',
  Cython: 'pyx',
  D: 'd',
  Dart: 'dart',
  Elixir: 'ex exs',
  Elm: 'elm',
  'Emacs Lisp': 'el',
  Erlang: 'erl hrl',
  'F#': 'fs fsi fsx',
  Fortran: 'f f90 f95 for',
  GLSL: 'frag glsl vert',
  Go: 'go',
  Groovy: 'gradle groovy',
  Haskell: 'hs lhs',
  HCL: 'hcl tf tfvars',
  HTML: 'htm html xhtml',
  Java: 'java',
  JavaScript: 'cjs js jsx mjs',
  Julia: 'jl',
  Kotlin: 'kt kts',
  Less: 'less',
  Lua: 'lua',
  Makefile: 'mak mk',
  MATLAB: 'mlx',
  Nim: 'nim',
  Nix: 'nix',
  'Objective-C': 'm',
  'Objective-C++': 'mm',
  OCaml: 'ml mli',
  Pascal: 'lpr pas',
  Perl: 'pl pm t',
  PHP: 'php phtml',
  PowerShell: 'ps1 psd1 psm1',
  Prolog: 'pro',
  PureScript: 'purs',
  Python: 'py pyi pyw',
  R: 'r',
  Racket: 'rkt',
  Ruby: 'gemspec rake rb',
  Rust: 'rs',
  Sass: 'sass',
  Scala: 'sbt scala',
  Scheme: 'scm ss',
  SCSS: 'scss',
  Shell: 'bash sh zsh',
  Starlark: 'bzl star',
  Svelte: 'svelte',
  Swift: 'swift',
  SystemVerilog: 'sv svh',
  Tcl: 'tcl',
  TeX: 'sty tex',
  TypeScript: 'cts mts ts tsx',
  Verilog: 'v',
  VHDL: 'vhd vhdl',
  'Vim Script': 'vim',
  Vue: 'vue',
  XSLT: 'xsl xslt',
  Zig: 'zig',
}

const BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries(ENDINGS).flatMap(([language, endings]) =>
    endings.split(' ').map((ending) => [ending, language] as const),
  ),
)

const BY_NAME: ReadonlyMap<string, string> = new Map([
  ['cmakelists.txt', 'CMake'],
  ['dockerfile', 'Dockerfile'],
  ['gnumakefile', 'Makefile'],
  ['makefile', 'Makefile'],
  ['rakefile', 'Ruby'],
])

/** Paths of vendored and minified files, which do not count as code of the repository. */
const FOREIGN =
  /(?:^|\/)(?:bower_components|node_modules|third[-_]party|vendor)\/|\.min\.(?:css|js)$/

/**
 * Returns the language of a file by its path, or undefined if the extension is unknown or the file
 * is vendored or minified.
 */
export function languageOf(path: string): string | undefined {
  const lower = path.toLowerCase()
  if (FOREIGN.test(lower)) return undefined
  const name = lower.slice(lower.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return BY_NAME.get(name) ?? (dot < 0 ? undefined : BY_ENDING.get(name.slice(dot + 1)))
}
