/** Common interface of the product and its peers that maintain a Debian repository. */

import type { DebFile } from './deb-files.js'
import type { CpuGroup } from './server.js'

/** Distribution, component and architecture of each repository. */
export const DISTRIBUTION = 'stable'
export const COMPONENT = 'main'
export const ARCHITECTURE = 'amd64'

/** Path of the package list below `dists/stable`. */
export const LIST = `${COMPONENT}/binary-${ARCHITECTURE}/Packages.gz`

export interface DebianSide {
  readonly name: string
  readonly cpu: CpuGroup
  /** Adds all packages of a folder, in the fastest way available, and generates the index. */
  fill(folder: string, debs: readonly DebFile[]): Promise<void>
  /** Adds a package and returns the `Packages.gz` of the new signed index. */
  add(deb: DebFile): Promise<Buffer>
  stop(): Promise<void>
}
