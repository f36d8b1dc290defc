/** Stages of jobs on the page of a run. */

import t from 'tap'
import { stagesOf } from '../../../../gateway/web/runs/job-stages.js'

t.test(
  'a job is after those that it needs, and not before the one that has become it',
  async (t) => {
    const jobs = [
      { key: 'list', needs: [] },
      { key: 'call', needs: ['list'] },
      { key: 'last', needs: ['call'] },
      { key: 'call/0/build', needs: [] },
      { key: 'call/0/test', needs: ['call/0/build'] },
      { key: 'list/list', needs: [] },
    ]
    const keys = stagesOf(jobs).map((stage) => stage.map(({ key }) => key))
    t.strictSame(keys, [
      ['list', 'list/list'],
      ['call', 'call/0/build'],
      ['last', 'call/0/test'],
    ])
  },
)
