/** A folder of its own for a test, gone when the test ends. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** A new empty folder, removed with all it holds at the end of the test. */
export async function temporaryFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
  return folder
}
