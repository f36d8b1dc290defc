/** Check R4: no repository has a marker with another name. */

import { readMarker } from '../../cgi/repository/marker.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { markerOf, renewMarkers } from '../request/repository-markers.js'
import type { Check, Finding } from './finding.js'
import { examineRepositories, withWiki } from './repository-folders.js'

/**
 * Yields repositories and wikis with a wrong marker, which the repair renews. A missing one is no
 * finding: the repositories of an earlier release have none until the daily job has run.
 */
export const checkMarkers: Check = (context, scope) => {
  const { dir } = context.settings.data
  return examineRepositories(context, scope, {
    async examine(repository) {
      const findings: Finding[] = []
      for (const each of withWiki(repository)) {
        const path = repositoryPath(dir, each.storage)
        const wanted = markerOf(each)
        const marker = await readMarker(path)
        if (marker === undefined || marker === wanted) continue
        findings.push({
          code: 'R4',
          subject: wanted,
          problem: `The file ${path}/description has another name`,
          remedy: "Run 'gatehouse check --only R4 --repair'",
        })
      }
      return findings
    },
    repair: (repository) => renewMarkers(dir, repository),
  })
}
