/** Names of the events that start workflow runs, as workflow files have them. */

/** Events of reviews of pull requests, whose runs use the head. */
export type ReviewEvent = 'pull_request_review' | 'pull_request_review_comment'

/** Events that workflows select by the type of the change alone. */
export type TypedEvent =
  | 'issues'
  | 'issue_comment'
  | 'pull_request_comment'
  | 'release'
  | 'create'
  | 'delete'
  | 'fork'
  | 'registry_package'
  | ReviewEvent

/** Events that are stored until they are planned. */
export type RunEventName =
  | 'push'
  | 'pull_request'
  | 'pull_request_target'
  | 'workflow_run'
  | 'schedule'
  | TypedEvent
