import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { formatHundredths, formatInteger } from './chapter.ts'
import { PHASES } from './contestants.ts'
import type { Curve } from './growth.ts'
import type { PeerRatios } from './report.ts'

/** Blue, orange and green that differ on white, on black, and for colour-blind readers. */
const COLOURS = ['#4a90d9', '#d9822b', '#2f9e6e']

/** The background is transparent: pages may be light or dark. */
const STYLE = 'svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}'

const SVG = 'http://www.w3.org/2000/svg'

const labelOf = ({ phase, middle }: { phase: string; middle: number }) =>
  `${phase} ${formatHundredths(middle)}`

/** A ratio to one peer in one phase. */
type Point = ReturnType<typeof pointsOf>[number]

const pointsOf = (peerRatios: readonly PeerRatios[]) =>
  peerRatios.flatMap(({ peer, ratios }) =>
    PHASES.map((phase) => ({ peer, phase, ...ratios[phase] })),
  )

/** Draws the ratios as an SVG: a point for each, and a line for the middle half of the bulks. */
export function drawRatios(peerRatios: readonly PeerRatios[]): string {
  const { document } = parseHTML('<!doctype html><body></body>')
  const points = pointsOf(peerRatios)
  const svg = Plot.plot({
    document,
    width: 760,
    height: 70 + peerRatios.length * 56,
    marginLeft: 160,
    marginRight: 30,
    marginBottom: 40,
    style: { fontSize: '12px' },
    x: axisOf(points),
    y: { axis: null, domain: PHASES, padding: 0.3 },
    fy: { label: null, domain: peerRatios.map(({ peer }) => peer), axis: 'left', padding: 0.15 },
    color: { domain: PHASES, range: COLOURS },
    marks: marksOf(points),
  })
  return asFile(svg, {
    title: 'Records a second of the service, in bulks of 1000, compared with others',
    description: points.map((point) => `${point.peer}: ${labelOf(point)}`).join('; '),
  })
}

/** Returns the text of an SVG file, with a title and a description for those who do not see it. */
function asFile(
  svg: ReturnType<typeof Plot.plot>,
  { title, description }: { title: string; description: string },
): string {
  for (const [name, text] of [
    ['desc', description],
    ['title', title],
  ] as const) {
    const element = svg.ownerDocument.createElementNS(SVG, name)
    element.textContent = text
    svg.prepend(element)
  }
  svg.setAttribute('role', 'img')
  svg.setAttribute('xmlns', SVG)
  svg.querySelector('style')!.textContent += STYLE
  return `${svg.outerHTML}\n`
}

/** Draws the curves as an SVG: records a second, by the number of records that are stored already. */
export function drawGrowth(curves: readonly Curve[]): string {
  const { document } = parseHTML('<!doctype html><body></body>')
  const points = curves.flatMap(({ name, points: all }) =>
    all.map(({ stored, recordsPerSecond }) => ({
      name,
      stored: formatInteger(stored),
      recordsPerSecond,
    })),
  )
  const place = { x: 'stored', y: 'recordsPerSecond', stroke: 'name' }
  const svg = Plot.plot({
    document,
    width: 760,
    height: 330,
    marginLeft: 70,
    marginRight: 190,
    marginBottom: 45,
    style: { fontSize: '12px' },
    x: { type: 'point', domain: points.map(({ stored }) => stored), label: 'records stored' },
    y: { type: 'linear', zero: true, grid: true, label: 'records inserted a second' },
    color: { domain: curves.map(({ name }) => name), range: [...COLOURS, '#9b6bc4'] },
    marks: [
      Plot.lineY(points, { ...place, strokeWidth: 2 }),
      Plot.dot(points, { ...place, r: 3 }),
      Plot.text(labelsOf(curves), {
        x: 'stored',
        y: 'recordsPerSecond',
        text: 'name',
        fill: 'name',
        textAnchor: 'start',
        dx: 10,
      }),
    ],
  })
  return asFile(svg, {
    title: 'Records inserted a second, by the number of records that are stored',
    description: points
      .map(
        ({ name, stored, recordsPerSecond }) =>
          `${name}, ${stored}: ${formatInteger(recordsPerSecond)}`,
      )
      .join('; '),
  })
}

/** Returns a label at the end of each curve, so far from the next that both can be read. */
function labelsOf(curves: readonly Curve[]) {
  const speeds = curves.flatMap(({ points }) => points.map((point) => point.recordsPerSecond))
  const distance = Math.max(...speeds) * 0.06
  let lowest = 0
  return curves
    .flatMap(({ name, points }) => points.slice(-1).map((last) => ({ name, ...last })))
    .sort((a, b) => a.recordsPerSecond - b.recordsPerSecond)
    .map(({ name, stored, recordsPerSecond }) => {
      const height = Math.max(recordsPerSecond, lowest)
      lowest = height + distance
      return { name, stored: formatInteger(stored), recordsPerSecond: height }
    })
}

/** Returns a logarithmic axis that has room for all points and their labels. */
function axisOf(points: readonly Point[]): Plot.ScaleOptions {
  const least = Math.min(0.5, ...points.map((point) => point.least)) / 2.2
  const most = Math.max(2, ...points.map((point) => point.most)) * 2.2
  return {
    type: 'log',
    base: 2,
    domain: [least, most],
    label: '← slower     ratio of records per second, ours ÷ theirs    faster →',
    labelAnchor: 'center',
    ticks: [0.125, 0.25, 0.5, 1, 2, 4, 8, 16].filter((n) => n > least && n < most),
    tickFormat: String,
    grid: true,
  }
}

/** Returns the line at 1, and the lines, points and labels of the ratios. */
function marksOf(points: readonly Point[]): Plot.Markish[] {
  const place = { fy: 'peer', y: 'phase' }
  // Labels stay on their side of the line at 1.
  const faster = points.filter(({ middle }) => middle >= 1)
  const slower = points.filter(({ middle }) => middle < 1)
  return [
    Plot.ruleX([1]),
    Plot.link(points, { ...place, x1: 'least', x2: 'most', stroke: 'phase', strokeWidth: 3 }),
    Plot.dot(points, { ...place, x: 'middle', fill: 'phase', r: 4.5 }),
    Plot.text(faster, { ...place, x: 'most', text: labelOf, textAnchor: 'start', dx: 9 }),
    Plot.text(slower, { ...place, x: 'least', text: labelOf, textAnchor: 'end', dx: -9 }),
  ]
}
