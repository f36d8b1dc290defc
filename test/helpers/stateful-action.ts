/** An action for Node with a state. */

/**
 * Returns the files of an action `./a`. Its scripts show the state and extend it; the one that the
 * input `fails` names exits with status 3. Conditions are more keys of `runs`.
 */
export const statefulAction = (conditions = '') => ({
  'a/action.yml': `
inputs: { name: { required: true }, fails: { default: none } }
runs: { using: node24, pre: pre.js, main: main.js, post: post.js${conditions} }
`,
  ...Object.fromEntries(
    ['pre', 'main', 'post'].map((part) => [
      `a/${part}.js`,
      `const { env, exit } = process
console.log('${part}', env.INPUT_NAME, env.STATE_seen || 'nothing', env.SET || 'unset')
require('fs').appendFileSync(env.GITHUB_STATE, 'seen=' + (env.STATE_seen || '') + '${part},\\n')
require('fs').appendFileSync(env.GITHUB_ENV, 'SET=' + env.INPUT_NAME)
exit(env.INPUT_FAILS === '${part}' ? 3 : 0)`,
    ]),
  ),
})
