/** Programs that scripts install into `.programs` for the tests. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Time for an installation, or for another process that installs the program. */
const TIMEOUT_MS = 300_000

/**
 * Returns the folder of a program. Runs scripts/NAME, which waits for a running installation and
 * installs nothing if the program is there. Throws if the installation fails.
 */
export async function installProgram(name: string): Promise<string> {
  await execa(join(ROOT, 'scripts', name), [], { timeout: TIMEOUT_MS })
  return join(ROOT, '.programs', name)
}
