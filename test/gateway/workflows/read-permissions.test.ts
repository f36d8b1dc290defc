/** Permissions in workflow files: all, some, and values that are wrong. */

import t from 'tap'
import { allAreas } from '../../../conf/job-permissions.js'
import { readWorkflow } from '../../../gateway/workflows/read-workflow.js'
import { planOf } from '../../helpers/planned-file.js'

const JOB = 'runs-on: linux, steps: [{ run: x }]'

function permissionsIn(common: string, own = ''): unknown {
  const workflow = readWorkflow(`on: push\n${common}\njobs: { a: { ${own} ${JOB} } }\n`)
  return workflow.jobs[0]?.permissions
}

t.test('permissions of a job replace those of the workflow', async (t) => {
  t.equal(permissionsIn(''), undefined)
  t.strictSame(permissionsIn('permissions: read-all'), allAreas('read'))
  t.strictSame(permissionsIn('permissions: write-all'), allAreas('write'))
  t.strictSame(permissionsIn('permissions: {}'), allAreas('none'))
  const some = { ...allAreas('none'), contents: 'read', 'pull-requests': 'write' }
  const text = 'permissions: { contents: read, pull-requests: write'
  t.strictSame(permissionsIn(`${text} }`), some)
  t.strictSame(permissionsIn('permissions: write-all', `${text} },`), some)
})

t.test('unknown keys have a warning, and unknown values are faults', async (t) => {
  const file = `on: push\npermissions: { id-token: write }\njobs: { a: { ${JOB} } }\n`
  t.match(readWorkflow(file), {
    warnings: ['permissions.id-token has no effect'],
    jobs: [{ permissions: allAreas('none') }],
  })
  const faults = [
    ['permissions: all', /^2:14: permissions must be 'read-all', 'write-all' or a map/],
    ['permissions: { issues: admin }', /^2:24: permissions\.issues must be 'none', 'read' or/],
    ['permissions:', /permissions must be 'read-all'/],
  ] as const
  for (const [line, expected] of faults) {
    const wrong = `on: push\n${line}\njobs: { a: { ${JOB} } }\n`
    t.match(planOf(wrong), { kind: 'faulty', fault: expected }, line)
  }
})
