/** Types of changes in the words of workflow files. */

/** Actions whose words in workflow files differ from those of webhooks. */
const TYPES: Readonly<Record<string, string>> = {
  synchronized: 'synchronize',
  label_updated: 'labeled',
  label_cleared: 'unlabeled',
  updated: 'edited',
}

/** Returns the type of a change by its action in the words of webhooks. */
export function typeOfAction(action: string): string {
  return TYPES[action] ?? action
}
