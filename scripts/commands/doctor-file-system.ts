/** Check of `gatehouse doctor` on the file system of the data folder. */

import { stat } from 'node:fs/promises'
import { cachingMountOf } from '../../cgi/repository/cached-attributes.js'
import type { Settings } from '../../conf/settings.js'

/** Checks that changes of repositories by other machines are seen at their first read. */
export async function checkFileSystem({
  data,
}: {
  readonly data: Pick<Settings['data'], 'dir'>
}): Promise<string> {
  const mount = cachingMountOf((await stat(data.dir)).dev)
  if (mount === undefined) return 'attributes of files are read when they are needed'
  throw new Error(
    `${data.dir} is on ${mount.type}, whose cached attributes hide pushes through other machines, so no answer to git is kept: mount it with noac,lookupcache=none (nfs) or actimeo=0 (cifs), or use a local disk`,
  )
}
