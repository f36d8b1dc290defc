/** One who keeps a Debian repository, by whatever means: what the product and its peers share. */

import type { DebFile } from './deb-files.js'
import type { CpuGroup } from './server.js'

/** The one distribution, component and architecture of each. */
export const DISTRIBUTION = 'stable'
export const COMPONENT = 'main'
export const ARCHITECTURE = 'amd64'

/** Where the list is, below `dists/stable`. */
export const LIST = `${COMPONENT}/binary-${ARCHITECTURE}/Packages.gz`

export interface DebianSide {
  readonly name: string
  readonly cpu: CpuGroup
  /** Takes all files of a folder, in the quickest way it has, and makes its index. */
  fill(folder: string, debs: readonly DebFile[]): Promise<void>
  /** Takes one more and returns the `Packages.gz` that its signed index names afterwards. */
  add(deb: DebFile): Promise<Buffer>
  stop(): Promise<void>
}
