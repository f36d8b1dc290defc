/** The hook that requests a decision before a push; without a decision the push is refused. */

import { existsSync } from 'node:fs'
import { mkdir, readdir, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { runToEnd } from '../../../cgi/process/run.js'
import {
  expectPushDecisionRequest,
  type PushAnswer,
  type PushDecisionRequest,
  sweepPushDecisionRequests,
} from '../../../cgi/refs/push-decision-request.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const git = await findGit()
const [ONE, TWO, ZEROS] = ['1'.repeat(40), '2'.repeat(40), '0'.repeat(40)]

/** Runs the hook as git does; `variables` are those that git sets. */
async function ask(
  t: Test,
  decide: (question: PushDecisionRequest) => Promise<PushAnswer>,
  { input, quarantine = '' }: { readonly input: string; readonly quarantine?: string },
) {
  const dataDir = await temporaryFolder(t)
  const asking = await expectPushDecisionRequest(git, { dataDir, path: '/r.git', decide })
  const hook = join(dirname(git.configFile), 'git-hooks', 'pre-receive')
  const ended = runToEnd(hook, [], {
    environment: {
      PATH: '/usr/bin:/bin',
      GIT_QUARANTINE_PATH: quarantine,
      ...asking.variables,
      GATEHOUSE_UPDATES: join(dataDir, 'updates'),
    },
    input,
    timeoutMs: 60_000,
    outputBytesMax: 1_000,
  })
  return { asking, ended, dataDir }
}

t.test('the request has all ref changes, and the client receives the refusal texts', async (t) => {
  const questions: PushDecisionRequest[] = []
  const decide = async (question: PushDecisionRequest) => {
    questions.push(question)
    return questions.length === 1 ? [] : ['one', 'yes']
  }
  const input = `${ONE} ${TWO} refs/heads/a\n${ZEROS} ${ONE} refs/tags/end\n${ONE} ${ZEROS} refs/x y\n`
  const quarantine = '/elsewhere/objects/tmp_objdir-incoming-Ab12'
  const first = await ask(t, decide, { input, quarantine })
  t.equal((await first.ended).exitCode, 0)
  t.same(questions, [
    {
      changes: [
        { name: 'refs/heads/a', before: ONE, after: TWO },
        { name: 'refs/tags/end', before: undefined, after: ONE },
        { name: 'refs/x y', before: ONE, after: undefined },
      ],
      quarantine: {
        GIT_OBJECT_DIRECTORY: '/r.git/objects/tmp_objdir-incoming-Ab12',
        GIT_ALTERNATE_OBJECT_DIRECTORIES: '/r.git/objects',
      },
    },
  ])
  const second = await ask(t, decide, { input, quarantine: '/r.git/objects/../../etc' })
  t.match(await second.ended, { exitCode: 1, errorText: 'Gatehouse: one\nGatehouse: yes\n' })
  t.same(questions[1]?.quarantine, {})
  for (const { asking, dataDir } of [first, second]) {
    await asking.close()
    t.same(await readdir(join(dataDir, 'questions')), [])
  }
})

t.test('a ref name that could hide another line refuses the whole push', async (t) => {
  const decide = async () => {
    throw new Error('no decision may be requested')
  }
  for (const name of ['refs/heads/a\nend', 'a\n', 'HEAD', 'refs/heads/a\n\n']) {
    const { asking, ended } = await ask(t, decide, { input: `${ZEROS} ${ONE} ${name}\n` })
    t.match(await ended, { exitCode: 1, errorText: /no valid name/ }, JSON.stringify(name))
    await asking.close()
  }
})

t.test('without a decision the push is refused', async (t) => {
  const decide = async () => {
    throw new Error('the decision failed')
  }
  const { asking, ended } = await ask(t, decide, { input: `${ZEROS} ${ONE} refs/heads/a\n` })
  await new Promise((resolve) => setImmediate(resolve))
  const closing = asking.close()
  t.not((await ended).exitCode, 0)
  await closing
})

t.test('leftovers of a killed gateway are removed after two days', async (t) => {
  const dataDir = await temporaryFolder(t)
  await sweepPushDecisionRequests(dataDir)
  const [old, young] = [join(dataDir, 'questions', 'old'), join(dataDir, 'questions', 'young')]
  for (const folder of [old, young]) await mkdir(folder, { recursive: true })
  await utimes(old, 1, 1)
  await sweepPushDecisionRequests(dataDir)
  t.same([old, young].map(existsSync), [false, true])
})
