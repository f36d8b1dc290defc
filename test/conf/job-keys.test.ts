/** The key of a job within its file. */

import t from 'tap'
import { originKeyOf, ownKeyOf, parentKeyOf } from '../../conf/job-keys.js'

t.test('the own key follows those of the jobs that have become the job', async (t) => {
  t.equal(ownKeyOf('test'), 'test')
  t.equal(ownKeyOf('test/test'), 'test')
  t.equal(ownKeyOf('deploy/0/build'), 'build')
  t.equal(originKeyOf('deploy/0/build'), 'deploy')
  t.equal(originKeyOf('test'), 'test')
})

t.test('the key of the parent has neither the own key nor the number of a call', async (t) => {
  t.equal(parentKeyOf('test'), undefined)
  t.equal(parentKeyOf('test/test'), 'test')
  t.equal(parentKeyOf('deploy/0/build'), 'deploy')
  t.equal(parentKeyOf('deploy/0/build/build'), 'deploy/0/build')
  t.equal(parentKeyOf('deploy/0/inner/12/one'), 'deploy/0/inner')
})
