/** The key of a job within its file. */

import t from 'tap'
import { originKeyOf, ownKeyOf } from '../../conf/job-keys.js'

t.test('the own key follows those of the jobs that have become the job', async (t) => {
  t.equal(ownKeyOf('test'), 'test')
  t.equal(ownKeyOf('test/test'), 'test')
  t.equal(ownKeyOf('deploy/0/build'), 'build')
  t.equal(originKeyOf('deploy/0/build'), 'deploy')
  t.equal(originKeyOf('test'), 'test')
})
