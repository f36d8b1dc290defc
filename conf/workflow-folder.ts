/** The folder of a repository that its workflow files are in. */

export const WORKFLOW_FOLDER = '.gitea/workflows'
