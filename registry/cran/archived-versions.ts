/** Table of the archived versions of a package, as in `Meta/archive.rds` of CRAN. */

import type { IndexEntry } from '../index-maker.js'
import {
  serializeFlags,
  serializeFrame,
  serializeIntegers,
  serializeNumbers,
  serializeTexts,
} from './rds.js'
import { compareVersions } from './version.js'

/** Access mode 644 of a file. */
const FILE_MODE = 0o644

const MS_PER_SECOND = 1_000

/**
 * Serializes the versions of one package as a data frame: a row for each file with the columns of
 * `file.info()`, lowest version first, because clients choose the last one that fits. The times are
 * those of the upload; the owners of files are NA.
 */
export function serializeVersions(entries: readonly IndexEntry[]): string {
  const sorted = entries.toSorted((one, other) => compareVersions(one.version, other.version))
  const times = sorted.map(({ file }) => Math.floor(file.createdAtMs / MS_PER_SECOND))
  const time = serializeNumbers(times, ['POSIXct', 'POSIXt'])
  const owner = serializeIntegers(sorted.map(() => undefined))
  const ownerName = serializeTexts(sorted.map(() => undefined))
  return serializeFrame(
    {
      size: serializeNumbers(sorted.map(({ file }) => file.bytes)),
      isdir: serializeFlags(sorted.map(() => false)),
      mode: serializeIntegers(
        sorted.map(() => FILE_MODE),
        ['octmode'],
      ),
      mtime: time,
      ctime: time,
      atime: time,
      uid: owner,
      gid: owner,
      uname: ownerName,
      grname: ownerName,
    },
    sorted.map(({ packageName, file }) => `${packageName}/${file.name}`),
  )
}
