/** Summaries that the steps of a job write. */

import t from 'tap'
import { jobOf, ranTask } from '../../helpers/ran-task.js'
import { stubRunnerServer } from '../../helpers/stub-runner-server.js'

const write = (text: string) => `run: echo '${text}' >> "$GITHUB_STEP_SUMMARY"`

t.test('the summary of each step is sent without secrets', async (t) => {
  const { stub, result } = await ranTask(
    t,
    jobOf(
      write('# Passed with hunter2'),
      'run: echo no summary',
      `${write('masked later')}; echo ::add-mask::later`,
      `${write('failed')}; exit 1`,
    ),
    { secrets: { KEY: 'hunter2' } },
  )
  t.equal(result, 'FAILURE')
  t.strictSame(
    [...stub.summaries],
    [
      [0, '# Passed with ***\n'],
      [2, 'masked ***\n'],
      [3, 'failed\n'],
    ],
  )
})

t.test('a summary that is too long, or no plain file, is left out with a warning', async (t) => {
  const { stub, result } = await ranTask(
    t,
    jobOf(
      'run: head -c 1048577 /dev/zero >> "$GITHUB_STEP_SUMMARY"; echo A=b >> "$GITHUB_OUTPUT"',
      'run: rm "$GITHUB_STEP_SUMMARY"; mkfifo "$GITHUB_STEP_SUMMARY"',
      'run: ln -sf /etc/passwd "$GITHUB_STEP_SUMMARY"',
      write('short'),
    ),
  )
  t.equal(result, 'SUCCESS')
  t.strictSame([...stub.summaries.keys()], [3])
  const warnings = stub.rows.filter((row) => row.startsWith('Warning:'))
  t.match(warnings, [/longer than 1048576 bytes\.$/, /is not a plain file\.$/])
  t.equal(warnings.length, 2)
})

t.test('a server that is away gets the summary later; a refusal is a warning', async (t) => {
  const stub = await stubRunnerServer(t)
  stub.refusals['UpdateStepSummary'] = ['unavailable']
  await ranTask(t, jobOf(write('once more')), { stub })
  t.strictSame([...stub.summaries], [[0, 'once more\n']])
  stub.summaries.clear()
  stub.refusals['UpdateStepSummary'] = ['unimplemented']
  const { result } = await ranTask(t, jobOf(write('unknown here')), { stub })
  t.equal(result, 'SUCCESS')
  t.equal(stub.summaries.size, 0)
  t.match(stub.rows.at(-1), /the server has not stored it: UpdateStepSummary was refused\.$/)
})
