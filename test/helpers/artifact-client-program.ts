/**
 * Process that calls the artifact client of GitHub's toolkit, which reads its settings from the
 * environment and writes to the standard output. Argument: the version of the client. The calls
 * come from the standard input, and the file RESULTS gets what they return.
 */

import { writeFile } from 'node:fs/promises'
import { json } from 'node:stream/consumers'

type Calls = ReadonlyArray<readonly [method: string, ...args: readonly unknown[]]>
type Client = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>

/** Loads only one of the clients, because the other takes longer than its calls. */
async function open(version: string | undefined): Promise<unknown> {
  if (version === '3') return (await import('artifact-v3')).create()
  return new (await import('artifact-v4')).DefaultArtifactClient()
}

const client = (await open(process.argv[2])) as Client
const results: unknown[] = []
for (const [method, ...args] of (await json(process.stdin)) as Calls) {
  try {
    results.push(await client[method]?.(...args))
  } catch (error) {
    results.push({ error: error instanceof Error ? error.message : String(error) })
  }
}
await writeFile(process.env['RESULTS'] ?? '', JSON.stringify(results))
