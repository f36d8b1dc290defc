/** Size of the heavy tests. */

/** True if `TEST_SIZE=full` selects the sizes for releases, which take minutes and not seconds. */
export const isFullSize = process.env['TEST_SIZE'] === 'full'
