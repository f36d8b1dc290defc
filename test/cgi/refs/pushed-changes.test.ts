/** The hook that records which refs a push changed. */

import { readFile, writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  chooseChangeNote,
  listChangeNotes,
  prepareChangeNote,
  readChangeNote,
  removeChangeNote,
} from '../../../cgi/refs/pushed-changes.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const git = await findGit()
  const folder = await temporaryFolder(t)
  await initRepository(git, `${folder}/r.git`, { defaultBranch: 'main', objectFormat })
  const copy = await newWorkingCopy(t, objectFormat)
  const push = async (...refs: readonly string[]) => {
    const note = await prepareChangeNote(git, chooseChangeNote(folder, '7-ada'))
    const [[key = '', value = ''] = []] = note.config
    // A local push passes no configuration from the environment to receive-pack.
    await copy.git('--git-dir', `${folder}/r.git`, 'config', key, value)
    const environment = { ...note.variables, GATEHOUSE_UPDATES: `${folder}/updates` }
    const end = await copy.try(['push', '--quiet', `${folder}/r.git`, ...refs], { environment })
    return { note, end, written: await readChangeNote(note.file) }
  }
  return { git, folder, copy, push }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`${format}: created, moved and deleted refs are recorded`, async (t) => {
    const { copy, push, folder } = await scene(t, format)
    const first = await copy.commit('one')
    const made = await push('main', 'main:refs/heads/side', 'main:refs/tags/ä&v1')
    t.equal(made.end.exitCode, 0, made.end.errorText)
    const [before, after] = [undefined, first]
    t.strictSame(made.written?.changes, [
      { name: 'refs/heads/main', before, after },
      { name: 'refs/heads/side', before, after },
      { name: 'refs/tags/ä&v1', before, after },
    ])
    t.equal(made.written?.isWhole, true)
    const second = await copy.commit('two')
    const { written } = await push('main', ':side')
    t.strictSame(written?.changes, [
      { name: 'refs/heads/main', before: first, after: second },
      { name: 'refs/heads/side', before: first, after: undefined },
    ])
    t.equal((await listChangeNotes(folder)).length, 2)
    await removeChangeNote(made.note.file)
    await removeChangeNote(made.note.file)
    t.equal((await listChangeNotes(folder)).length, 1)
  })
}

t.test(
  'refused changes are not recorded, and a push without changes records nothing',
  async (t) => {
    const { copy, push } = await scene(t)
    await copy.commit('one')
    await push('main')
    t.equal((await push('main')).written, undefined)
    await copy.git('commit', '--quiet', '--amend', '-m', 'other')
    const mixed = await push('main', 'main:refs/heads/side')
    t.not(mixed.end.exitCode, 0)
    t.match(mixed.written?.changes, [{ name: 'refs/heads/side' }])
    t.equal(mixed.written?.changes.length, 1)
  },
)

t.test(
  'the record of an interrupted hook has only complete lines and is marked incomplete',
  async (t) => {
    const { folder, copy, push } = await scene(t)
    await copy.commit('one')
    const { note } = await push('main', 'main:refs/heads/side')
    const text = await readFile(note.file, 'utf8')
    await writeFile(note.file, text.slice(0, text.lastIndexOf('side')))
    t.match(await readChangeNote(note.file), {
      isWhole: false,
      changes: [{ name: 'refs/heads/main' }],
    })
    t.strictSame(await listChangeNotes(`${folder}/nowhere`), [])
  },
)
