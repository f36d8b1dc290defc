/** The table of archived versions has the columns of file.info(), with their classes. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { serializeVersions } from '../../../registry/cran/archived-versions.js'
import { serializeNamedList, serializeText } from '../../../registry/cran/rds.js'
import { anEntry } from '../../helpers/index-builds.js'
import { askR } from '../../helpers/real-r.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('versions are in ascending order, with the size and the time of their files', async (t) => {
  const entries = ['1.10', '1.9', '0.5-1'].map((version, at) => {
    const fileName = `toy_${version}.tar.gz`
    const named = { part: '', metadata: {}, packageName: 'toy', version, fileName }
    const entry = anEntry({ ...named, bytes: Buffer.alloc(100 + at) })
    return { ...entry, file: { ...entry.file, createdAtMs: 1_750_000_000_999 + at * 1_000 } }
  })
  const { head, between, tail } = serializeNamedList(1)
  const [table, name] = [serializeVersions(entries), serializeText('toy')]
  const texts = [table, name].map((text) => Buffer.from(text, 'latin1'))
  const folder = await temporaryFolder(t)
  const [tables = head, names = head] = texts
  await writeFile(join(folder, 'archive.rds'), Buffer.concat([head, tables, between, names, tail]))
  const program = `
    toy <- readRDS('archive.rds')$toy
    info <- file.info('archive.rds')
    cat(identical(colnames(toy), colnames(info)), '')
    cat(identical(lapply(toy, class), lapply(info, class)), '')
    cat(identical(lapply(toy, typeof), lapply(info, typeof)), '\\n')
    toy$mtime <- format(toy$mtime, tz = 'UTC')
    toy$mode <- format(toy$mode)
    write.table(toy[, c('size', 'isdir', 'mode', 'mtime', 'uid', 'uname')], quote = FALSE,
      col.names = FALSE)`
  t.strictSame(askR(program, '', folder), [
    'TRUE TRUE TRUE ',
    'toy/toy_0.5-1.tar.gz 102 FALSE 644 2025-06-15 15:06:42 NA NA',
    'toy/toy_1.9.tar.gz 101 FALSE 644 2025-06-15 15:06:41 NA NA',
    'toy/toy_1.10.tar.gz 100 FALSE 644 2025-06-15 15:06:40 NA NA',
  ])
})
