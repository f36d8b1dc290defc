/** An RDS table is identical to the one that R writes. */

import { gzipSync } from 'node:zlib'
import t from 'tap'
import {
  serializeFlags,
  serializeFrame,
  serializeIntegers,
  serializeNamedList,
  serializeNumbers,
  serializeTable,
  serializeText,
  serializeTexts,
} from '../../../registry/cran/rds.js'
import { askR } from '../../helpers/real-r.js'

const TABLE = {
  columns: ['Package', 'Version', 'Depends'],
  rows: [
    ['toy', '1.0', undefined],
    ['zoo', '0.3-1', 'R (>= 3.5), methods'],
    ['empty', '', undefined],
    ['long', '1.0', 'x'.repeat(70_000)],
  ],
}

/** Serializes the table, column by column. */
function serialize({ columns, rows }: typeof TABLE): Buffer {
  const { head, tail } = serializeTable(columns, rows.length)
  const cells = columns.flatMap((_, column) => rows.map((row) => serializeText(row[column])))
  return Buffer.concat([head, Buffer.from(cells.join(''), 'latin1'), tail])
}

/** Bytes of the header that contain the version of R. */
const WRITER = { start: 6, end: 10 }

t.test('the bytes are those of saveRDS', async (t) => {
  const program = `
    table <- matrix(c('toy', 'zoo', 'empty', 'long', '1.0', '0.3-1', '', '1.0',
      NA, 'R (>= 3.5), methods', NA, strrep('x', 70000)), nrow = 4,
      dimnames = list(NULL, c('Package', 'Version', 'Depends')))
    path <- tempfile()
    saveRDS(table, path, version = 2, compress = FALSE)
    cat(paste(readBin(path, 'raw', 1e6), collapse = ''), '\\n', sep = '')`
  const [hex = ''] = askR(program)
  const [own, wanted] = [serialize(TABLE), Buffer.from(hex, 'hex')]
  for (const bytes of [own, wanted]) bytes.fill(0, WRITER.start, WRITER.end)
  t.ok(own.equals(wanted), "identical to R's")
})

t.test('R reads the table compressed', async (t) => {
  const program = `
    path <- tempfile()
    writeBin(as.raw(strtoi(strsplit(readLines(input), ' ')[[1]], 16)), path)
    table <- readRDS(path)
    cat(class(table), dim(table), colnames(table), table['toy' == table[, 1], ], sep = '|')
    cat('\\n', nchar(table[4, 3]), '\\n', sep = '')`
  const hex = [...gzipSync(serialize(TABLE))].map((byte) => byte.toString(16)).join(' ')
  const wanted = ['matrix|array|4|3|Package|Version|Depends|toy|1.0|NA', '70000']
  t.strictSame(askR(program, `${hex}\n`), wanted)
})

t.test('a named list of data frames is identical to one that R makes', async (t) => {
  const frames = {
    some: serializeFrame(
      {
        numbers: serializeNumbers([1.5, 2 ** 40]),
        flags: serializeFlags([false, true]),
        modes: serializeIntegers([0o644, undefined], ['octmode']),
        times: serializeNumbers([0, 1_750_000_000], ['POSIXct', 'POSIXt']),
        texts: serializeTexts(['a', undefined]),
      },
      ['x/x_1.0', 'x/x_2.0'],
    ),
    none: serializeFrame({ numbers: serializeNumbers([]) }, []),
  }
  const { head, between, tail } = serializeNamedList(2)
  const elements = Buffer.from(Object.values(frames).join(''), 'latin1')
  const names = Buffer.from(Object.keys(frames).map(serializeText).join(''), 'latin1')
  const bytes = Buffer.concat([head, elements, between, names, tail])
  const empty = serializeNamedList(0)
  const program = `
    read <- function(line) {
      path <- tempfile()
      writeBin(as.raw(strtoi(strsplit(line, ' ')[[1]], 16)), path)
      readRDS(path)
    }
    lines <- readLines(input)
    some <- data.frame(numbers = c(1.5, 2^40), flags = c(FALSE, TRUE),
      row.names = c('x/x_1.0', 'x/x_2.0'))
    some$modes <- as.octmode(c(420L, NA))
    some$times <- structure(c(0, 1750000000), class = c('POSIXct', 'POSIXt'))
    some$texts <- c('a', NA)
    none <- data.frame(numbers = numeric(), row.names = character())
    cat(identical(read(lines[1])$some, some), all.equal(read(lines[1])$none, none), '')
    cat(names(read(lines[1])), identical(read(lines[2]), setNames(list(), character())), '\\n')`
  const hex = (all: Buffer) => [...all].map((byte) => byte.toString(16)).join(' ')
  const emptyBytes = Buffer.concat([empty.head, empty.between, empty.tail])
  const output = askR(program, `${hex(bytes)}\n${hex(emptyBytes)}\n`)
  t.strictSame(output, ['TRUE TRUE some none TRUE '])
})
