/** Clients that are not git: go-git, JGit and libgit2, as Debian has them. */

import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Command, runAsUser } from './user-git.js'

/** Operations of a client. Folders are bare clones, whose `origin` is fetched and pushed. */
export interface GitLibrary {
  readonly name: string
  list(url: string): Command
  clone(url: string, folder: string): Command
  /** Clones the last commit of `main`; undefined if the client cannot. */
  readonly shallowClone?: (url: string, folder: string) => Command
  fetch(folder: string): Command
  /** Pushes the branch `topic`. */
  push(folder: string): Command
}

const GO_GIT_SOURCE = fileURLToPath(
  new URL('../../../scripts/benchmarks/go-git-client/main.go', import.meta.url),
)

/** Compiles the client with go-git of Debian in a folder. */
export async function buildGoGit(folder: string, signal: AbortSignal): Promise<GitLibrary> {
  const program = join(folder, 'go-git-client')
  const source = join(folder, 'go/src/client')
  await mkdir(source, { recursive: true })
  await copyFile(GO_GIT_SOURCE, join(source, 'main.go'))
  // Without a module of its own, Go does not find the major version in the path of go-git.
  await writeFile(join(source, 'go.mod'), 'module client\n')
  const environment = {
    HOME: folder,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOPATH: `${join(folder, 'go')}:/usr/share/gocode`,
    GOCACHE: join(folder, 'go-cache'),
  }
  await runAsUser(['go', 'build', '-o', program, 'client'], { cwd: source, signal, environment })
  return {
    name: 'go-git',
    list: (url) => [program, 'ls-remote', url],
    clone: (url, into) => [program, 'clone', url, into],
    shallowClone: (url, into) => [program, 'shallow-clone', url, into],
    fetch: (clone) => [program, 'fetch', clone],
    push: (clone) => [program, 'push', clone],
  }
}

/** Runs one operation of libgit2, whose version in Debian 12 has no shallow clones. */
const LIBGIT2_SCRIPT = `
import pygit2, sys
operation, place, *rest = sys.argv[1:]
if operation == 'clone':
    pygit2.clone_repository(place, rest[0], bare=True)
elif operation == 'ls-remote':
    pygit2.init_repository('.', bare=True).remotes.create('origin', place).ls_remotes()
else:
    origin = pygit2.Repository(place).remotes['origin']
    if operation == 'fetch':
        origin.fetch()
    else:
        origin.push(['refs/heads/topic'])
`

const runLibgit2 = (...args: readonly string[]): Command => [
  'python3',
  '-c',
  LIBGIT2_SCRIPT,
  ...args,
]

export const LIBGIT2: GitLibrary = {
  name: 'libgit2',
  list: (url) => runLibgit2('ls-remote', url),
  clone: (url, into) => runLibgit2('clone', url, into),
  fetch: (clone) => runLibgit2('fetch', clone),
  push: (clone) => runLibgit2('push', clone),
}

/** Archives of JGit's command line. Debian's `jgit` names too few of them, and does not start. */
const JGIT_ARCHIVES = [
  'org.eclipse.jgit.pgm',
  'org.eclipse.jgit.lfs',
  'org.eclipse.jgit.http.apache',
  'httpclient',
  'httpcore',
  'commons-logging',
  'commons-codec',
].map((name) => `/usr/share/java/${name}.jar`)

const runJgit = (...args: readonly string[]): Command => [
  'java',
  '-cp',
  JGIT_ARCHIVES.join(':'),
  'org.eclipse.jgit.pgm.Main',
  ...args,
]

/** Takes credentials from `.netrc` in the folder of the Java property `user.home` alone. */
export const JGIT: GitLibrary = {
  name: 'JGit',
  list: (url) => runJgit('ls-remote', url),
  clone: (url, into) => runJgit('clone', '--bare', url, into),
  fetch: (clone) => runJgit('--git-dir', clone, 'fetch', 'origin'),
  push: (clone) => runJgit('--git-dir', clone, 'push', 'origin', 'refs/heads/topic'),
}
