/**
 * Process that calls the artifact client of GitHub's toolkit, which reads its settings from the
 * environment and writes to the standard output. Argument: the version of the client. The calls
 * come from the standard input, and the file RESULTS gets what they return.
 */

import { writeFile } from 'node:fs/promises'
import { json } from 'node:stream/consumers'
import { create } from 'artifact-v3'
import { DefaultArtifactClient } from 'artifact-v4'

type Calls = ReadonlyArray<readonly [method: string, ...args: readonly unknown[]]>
type Client = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>

const client = (process.argv[2] === '3'
  ? create()
  : new DefaultArtifactClient()) as unknown as Client
const results: unknown[] = []
for (const [method, ...args] of (await json(process.stdin)) as Calls) {
  try {
    results.push(await client[method]?.(...args))
  } catch (error) {
    results.push({ error: error instanceof Error ? error.message : String(error) })
  }
}
await writeFile(process.env['RESULTS'] ?? '', JSON.stringify(results))
