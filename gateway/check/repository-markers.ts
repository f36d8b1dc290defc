/** Check R4: each repository has a marker with its owner and name. */

import { existsSync } from 'node:fs'
import { readMarker } from '../../cgi/repository/marker.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { markerOf, renewMarkers } from '../request/repository-markers.js'
import type { Check, Finding } from './finding.js'
import { examineRepositories, withWiki } from './repository-folders.js'

/** Yields repositories and wikis with a missing or wrong marker. The repair writes it. */
export const checkMarkers: Check = (context, scope) => {
  const { dir } = context.settings.data
  return examineRepositories(context, scope, {
    async examine(repository) {
      const findings: Finding[] = []
      for (const each of withWiki(repository)) {
        const path = repositoryPath(dir, each.storage)
        const wanted = markerOf(each)
        const marker = await readMarker(path)
        // A missing folder is a finding of R1.
        if (marker === wanted || !existsSync(path)) continue
        findings.push({
          code: 'R4',
          subject: wanted,
          problem: `The file ${path}/description does not have its name`,
          remedy: "Run 'gatehouse check --only R4 --repair'",
        })
      }
      return findings
    },
    repair: (repository) => renewMarkers(dir, repository),
  })
}
