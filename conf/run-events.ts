/** Names of the events that start workflow runs, as workflow files have them. */

/** Events that workflows select by the type of the change alone. */
export type TypedEvent = 'issues' | 'issue_comment'

/** Events that are stored until they are planned. */
export type RunEventName = 'push' | 'pull_request' | 'pull_request_target' | TypedEvent
