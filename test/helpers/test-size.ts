/** How much the heavy tests do: enough for every run, or all that is promised. */

/** True when `TEST_SIZE=full` asks for the sizes of a release: minutes, where a run has seconds. */
export const isFullSize = process.env['TEST_SIZE'] === 'full'
