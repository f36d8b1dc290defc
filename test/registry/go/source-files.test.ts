/** Files of a commit are selected for a module zip as the go command does. */

import t from 'tap'
import { selectFiles } from '../../../registry/go/source-files.js'

const file = (path: string, bytes = 1) => ({ path, kind: 'file', bytes }) as const

async function selected(...paths: readonly string[]): Promise<readonly string[]> {
  return [...(await selectFiles(paths.map((path) => file(path))))]
}

t.test('vendored packages, nested modules and symbolic links are left out', async (t) => {
  const kept = ['a.go', 'inner/x.go', 'vendor/modules.txt']
  const dropped = [
    '.hg_archival.txt',
    'deep/vendor/x.go',
    'mod/go.mod',
    'mod/below/x.go',
    'other/GO.mod',
    'vendor/x/x.go',
    'x/vendor/y/go.mod',
  ]
  t.strictSame(await selected(...kept, ...dropped), kept)
  const link = { path: 'mod/go.mod', kind: 'symlink', bytes: 1 } as const
  t.strictSame([...(await selectFiles([link, file('mod/x.go')]))], ['mod/x.go'])
})

t.test('files that the go command refuses are refused with the reason', async (t) => {
  const refused = async (...files: readonly ReturnType<typeof file>[]) => {
    const refusal = await selectFiles(files).catch(String)
    return typeof refusal === 'string' ? refusal : 'taken'
  }
  t.match(await refused(file('a'), file('A')), /"a" and "A" have names that differ only in case/)
  t.match(await refused(file('d/x'), file('D/y')), /"d" and "D\/y" have names that differ/)
  t.match(await refused(file('é'), file('É')), /differ only in case/)
  t.match(await refused(file('GO.MOD')), /"GO\.MOD" must be named go\.mod/)
  t.match(await refused(file('aux.go')), /"aux\.go" is not allowed: .*reserved name on Windows/)
  t.match(await refused(file('a:b')), /"a:b" is not allowed/)
  t.match(await refused(file('go.mod', 1_048_577)), /"go\.mod" has more than 1048576 bytes/)
  t.match(await refused(file('x', 104_857_601)), /"x" has more than 104857600 bytes/)
  const large = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => file(name, 100_000_000))
  t.match(await refused(...large), /more than 500 MiB/)
  t.equal(await refused(file('vendor/A/x'), file('vendor/a/x')), 'taken')
})

t.test('many folders and long paths are refused before they cost much', async (t) => {
  const deep = Array.from({ length: 30_000 }, (_, at) => file(`d${at}/a/b/c/x`))
  await t.rejects(selectFiles(deep), /in more than 100000 folders/)
  const long = Array.from({ length: 5_000 }, (_, at) => file(`${'x'.repeat(1_000)}${at}`))
  await t.rejects(selectFiles(long), /their paths together have more than 4194304 characters/)
})
