/**
 * Process that calls the artifact client of GitHub's toolkit, which reads its settings from the
 * environment and writes to the standard output. Arguments: the folder and the version of the
 * client. The calls come from the standard input, and the file RESULTS gets what they return.
 */

import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'

type Calls = ReadonlyArray<readonly [method: string, ...args: readonly unknown[]]>
type Client = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>

/** Clients by the names of their packages in `.programs`. */
interface Clients {
  readonly 'artifact-v3': { create(): Client }
  readonly 'artifact-v4': { readonly DefaultArtifactClient: new () => Client }
}

const [, , folder = '', version] = process.argv

/** Loads only one of the clients, because the other takes longer than its calls. */
function open(): Client {
  const load = createRequire(join(folder, 'package.json')) as <K extends keyof Clients>(
    name: K,
  ) => Clients[K]
  if (version === '3') return load('artifact-v3').create()
  return new (load('artifact-v4').DefaultArtifactClient)()
}

const client = open()
const results: unknown[] = []
for (const [method, ...args] of (await json(process.stdin)) as Calls) {
  try {
    results.push(await client[method]?.(...args))
  } catch (error) {
    results.push({ error: error instanceof Error ? error.message : String(error) })
  }
}
await writeFile(process.env['RESULTS'] ?? '', JSON.stringify(results))
