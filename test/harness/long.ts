// Whether a test takes all cases of a sweep, as `npm run test:long` does, or a few of them.
export const IS_LONG = process.env.TEST_LONG === 'on'
