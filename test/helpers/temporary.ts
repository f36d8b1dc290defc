/** Temporary folders of tests. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** Variable with a folder on a real disk, if the temporary folders of a run are in memory. */
export const DISK_VARIABLE = 'TEST_DISK_FOLDER'

/** Returns a folder on disk, for tests that kill servers or compare inodes and times of files. */
export function diskFolder(): string {
  return process.env[DISK_VARIABLE] ?? tmpdir()
}

/** Creates an empty folder, which is removed with its contents at the end of the test. */
export async function temporaryFolder(t: Teardown, parent = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'gatehouse-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
  return folder
}
