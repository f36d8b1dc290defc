/** The real client of Swift's registry, in the Debian root that scripts/swift-toolchain creates. */

import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary.js'

const ROOT = fileURLToPath(new URL('../../../.programs/swift-root', import.meta.url))
/** Home folder of the account, in which Swift stores its credentials regardless of HOME. */
const OWN_HOME = '/root'
const BUNDLE = '/etc/ssl/certs/ca-certificates.crt'

export interface SwiftClient {
  /** Path of its home folder outside of the chroot. */
  readonly home: string
  /** Path of its home folder inside of the chroot. */
  readonly ownHome: string
  /** Writes files of one of its folders. */
  write(folder: string, files: Readonly<Record<string, string>>): Promise<void>
  read(file: string): Promise<string>
  /** Runs `swift …` in one of its folders; resolves with all that it printed. */
  swift(folder: string, ...args: readonly string[]): Promise<SwiftResult>
}

export interface SwiftResult {
  readonly exitCode: number
  readonly output: string
}

/**
 * Creates a client with a temporary home folder that trusts the certificate. Its folders are
 * mounted in a mount namespace, which ends with the process.
 */
export async function startSwiftClient(t: Test, certificate: string): Promise<SwiftClient> {
  const home = await temporaryFolder(t)
  const bundle = join(home, 'certificates.crt')
  await writeFile(bundle, [await readFile(ROOT + BUNDLE), await readFile(certificate)])
  await mkdir(join(home, 'tmp'))
  return {
    home,
    ownHome: OWN_HOME,
    async write(folder, files) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(home, folder, path)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, text)
      }
    },
    read: (file) => readFile(join(home, file), 'utf8'),
    swift: (folder, ...args) => run(['-c', IN_ROOT, ROOT, home, bundle, folder, ...args]),
  }
}

/** Shell script that enters the root folder. It mounts /proc, because Swift needs it to start. */
const IN_ROOT = `
mount -t proc proc "$0/proc" && mount --bind "$1" "$0${OWN_HOME}" &&
mount --bind "$2" "$0${BUNDLE}" && exec chroot "$0" env -i HOME=${OWN_HOME} \\
  TMPDIR=${OWN_HOME}/tmp PATH=/usr/bin:/bin LANG=C.UTF-8 \\
  sh -c 'cd ~/"$0" && exec swift "$@"' "\${@:3}"
`

/** Time limit, because Swift's client may wait forever for a reply that it has received. */
const ENDS_WITHIN_MS = 120_000

function run(args: readonly string[]): Promise<SwiftResult> {
  const apart = ['--mount', '--pid', '--fork', '--kill-child', 'bash']
  return new Promise((resolve) => {
    const options = { timeout: ENDS_WITHIN_MS, killSignal: 'SIGKILL' } as const
    execFile('unshare', [...apart, ...args], options, (error, output, errors) => {
      const exitCode = error === null ? 0 : Number(error.code ?? -1)
      resolve({ exitCode, output: output + errors })
    })
  })
}
