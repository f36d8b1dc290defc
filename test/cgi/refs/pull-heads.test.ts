/** Pull request heads of an imported repository are kept only for imported pull requests. */

import t from 'tap'
import { openJournal } from '../../../cgi/maintenance/journal.js'
import { findGit } from '../../../cgi/process/git.js'
import { keepPullHeads } from '../../../cgi/refs/pull-heads.js'
import { git } from '../../helpers/git-client.js'
import { aSource, referencesOf } from '../../helpers/sources.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test(
  'heads of other numbers and malformed names are removed, and branches are kept',
  async (t) => {
    const { path } = await aSource(t)
    const commit = await git(['rev-parse', 'refs/pull/1/head'], { cwd: path })
    for (const name of ['2/head', 'x/head', '01/head', '1/other/head', '3/merge', 'head']) {
      await git(['update-ref', `refs/pull/${name}`, commit], { cwd: path })
    }
    const branches = await referencesOf(path, 'refs/heads')
    const journal = await openJournal(await temporaryFolder(t))
    await keepPullHeads(await findGit(), path, { numbers: new Set([1, 9]), journal })
    t.equal(await referencesOf(path, 'refs/pull'), `refs/pull/1/head ${commit}`)
    t.equal(await referencesOf(path, 'refs/heads'), branches)
    await keepPullHeads(await findGit(), path, { numbers: new Set(), journal })
    t.equal(await referencesOf(path, 'refs/pull'), '')
  },
)
