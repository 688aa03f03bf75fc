import { describe, expect, it } from 'vitest'
import { MOST_RUNS_PER_PROJECT } from '../runs/claimable.ts'
import { admittedBelow } from './admission.ts'

const ALL = MOST_RUNS_PER_PROJECT

describe('projects with fewer runs than this may begin another', () => {
  it.each([
    ['nothing is going on', { working: 0, live: 0 }, ALL],
    ['there is room', { working: 5, live: 5 }, ALL],
    ['what is left is kept for projects with nothing at work', { working: 6, live: 6 }, 1],
    ['the same, beside runs that wait', { working: 6, live: 40 }, 1],
    ['everything is at work', { working: 8, live: 8 }, 0],
    ['all that are live wait, and no more than may be at work', { working: 0, live: 7 }, ALL],
    ['as many wait as may be at work: each project has its share', { working: 0, live: 8 }, 2],
    ['many wait', { working: 3, live: 47 }, 2],
    ['so many wait that the rest is kept for projects with nothing at work', { working: 0, live: 48 }, 1],
    ['no more may wait', { working: 0, live: 64 }, 0],
  ])('%s', (_when, load, below) => {
    expect(admittedBelow(load, 8)).toBe(below)
  })

  it.each([
    [1, { working: 0, live: 0 }, ALL],
    [1, { working: 1, live: 1 }, 0],
    [1, { working: 0, live: 1 }, 2],
    [2, { working: 1, live: 1 }, 1],
    [2, { working: 2, live: 2 }, 0],
    [64, { working: 47, live: 47 }, ALL],
    [64, { working: 48, live: 48 }, 1],
  ])('with %i places', (max_runs, load, below) => {
    expect(admittedBelow(load, max_runs)).toBe(below)
  })
})
