/**
 * Places the names of nodes and ports and the values of links so that they lie neither on each other nor on nodes, foreign links and
 * texts of drawings. Theory of operation: each label has a list of spots; it takes the cheapest one beside what is placed already.
 * Labels that still touch something choose again when all others stand. The result depends on the scene alone, so that every window
 * and every exported picture shows the same.
 */
import { type Curve, crosses, pointsOf } from './curve.ts';
import { type Box, overlaps, type Point } from './geometry.ts';
import {
  grown,
  type LinkSpots,
  markWidth,
  type NameSpot,
  namePlace,
  nameSpots,
  type PortSpot,
  portPlace,
  portSpots,
  type TextSize,
  textBox,
  type ValueSpot,
  valueBox,
  valuePlace,
  valueSpots,
} from './label-spots.ts';
import { NearGrid } from './near-grid.ts';

export interface LabelledNode {
  readonly id: string;
  readonly symbol: Box;
  /** Undefined: it has none, or a user has placed it. */
  readonly name: TextSize | undefined;
}

export interface LabelledLink {
  readonly id: string;
  readonly nodes: readonly [string, string];
  readonly curve: Curve;
  readonly symbols: readonly [Pick<Box, 'width' | 'height'>, Pick<Box, 'width' | 'height'>];
  /** Undefined: it is not shown, or a user has placed it. */
  readonly ports: readonly [TextSize | undefined, TextSize | undefined];
  /** Width of the values and marks in the middle; 0: there are none. */
  readonly valueWidth: number;
}

export interface LabelScene {
  readonly nodes: readonly LabelledNode[];
  readonly links: readonly LabelledLink[];
  /** Labels that users placed, and texts of drawings. */
  readonly fixed: readonly Box[];
}

export interface Placement {
  readonly names: ReadonlyMap<string, NameSpot>;
  readonly links: ReadonlyMap<string, LinkSpots>;
}

/** Costs of a label on a spot; each place in the list of spots costs one more step. */
const costs = { label: 30, symbol: 40, text: 20, foreign: 16, ownLink: 4, ownLine: 3, step: 0.15 } as const;
/** A name of a port that costs so much is hidden, and values become a mark. */
const crowdedFrom = costs.foreign;
const rounds = 2;
const gapPx = 1.5;

/** An obstacle. `seen`: number of the last visit, so that one in several cells counts once. */
type Thing = { readonly owner: string; seen: number } & (
  | { readonly kind: 'symbol' | 'text' | 'label'; readonly box: Box }
  | { readonly kind: 'line'; readonly from: Point; readonly to: Point; readonly nodes: readonly string[] }
);

interface LabelToPlace {
  readonly kind: 'name' | 'port' | 'value';
  /** Id of its node or link. */
  readonly owner: string;
  /** Number of its spots, and the box of each, the preferred ones first. */
  readonly count: number;
  readonly boxAt: (place: number) => Box;
  /** The box of the mark that stands for it where there is no room. */
  readonly markAt?: (place: number) => Box;
  /** Whether it lacks room. */
  isCrowded: boolean;
  chosen: number;
  cost: number;
  /** Box in the grid. */
  box: Box | undefined;
  thing: Thing | undefined;
}

interface Choice<Spot> {
  readonly spots: readonly Spot[];
  readonly label: LabelToPlace | undefined;
}

export function placeLabels(scene: LabelScene): Placement {
  const board = new Board();
  for (const { id, symbol } of scene.nodes) board.addBox('symbol', id, grown(symbol, gapPx));
  for (const box of scene.fixed) board.addBox('text', '', box);
  for (const link of scene.links) board.addLink(link);
  const spotsOf = sharedNameSpots();
  const names = scene.nodes.map((node) => ({ id: node.id, ...nameChoice(node, spotsOf) }));
  const links = scene.links.map((link) => ({
    id: link.id,
    one: portChoice(link, 0),
    other: portChoice(link, 1),
    value: valueChoice(link),
  }));
  const choices: readonly Choice<unknown>[] = [
    ...names,
    ...links.flatMap(({ one, other }) => [one, other]),
    ...links.map(({ value }) => value),
  ];
  const labels = choices.flatMap(({ label }) => label ?? []);
  for (const label of labels) board.choose(label);
  for (let round = 0; round < rounds; round += 1)
    for (const label of labels.filter(({ cost }) => cost >= costs.ownLine)) board.choose(label);
  makeRoom(board, labels);
  return {
    names: new Map(names.flatMap(({ id, ...name }) => (name.label ? [[id, spotOf(name) as NameSpot]] : []))),
    links: new Map(
      links.map(({ id, one, other, value }) => [id, { ports: [portSpot(one), portSpot(other)], value: valueSpot(value) }]),
    ),
  };
}

const spotOf = <Spot>({ spots, label }: Choice<Spot>): Spot | undefined => label && spots[label.chosen];

function portSpot(port: Choice<PortSpot>): PortSpot | undefined {
  const spot = spotOf(port);
  return spot && port.label?.isCrowded ? { ...spot, isHidden: true } : spot;
}

function valueSpot(value: Choice<ValueSpot>): ValueSpot | undefined {
  const spot = spotOf(value);
  return spot && value.label?.isCrowded ? { ...spot, isShort: true } : spot;
}

/** Nodes with symbols and texts of one size have the same list. */
function sharedNameSpots(): typeof nameSpots {
  const lists = new Map<string, readonly NameSpot[]>();
  return (symbol, name) => {
    const key = `${symbol.width} ${symbol.height} ${name.size}`;
    const spots = lists.get(key) ?? nameSpots(symbol, name);
    lists.set(key, spots);
    return spots;
  };
}

function nameChoice({ id, symbol, name }: LabelledNode, spotsOf: typeof nameSpots): Choice<NameSpot> {
  if (!name) return { spots: [], label: undefined };
  const spots = spotsOf(symbol, name);
  return choice('name', id, spots, (spot) => textBox(namePlace(symbol, spot), name));
}

function portChoice(link: LabelledLink, end: 0 | 1): Choice<PortSpot> {
  const text = link.ports[end];
  if (!text) return { spots: [], label: undefined };
  const spots = portSpots(link.curve, end, link.symbols);
  return choice('port', link.id, spots, (spot) => textBox(portPlace(link, end, spot, text), text));
}

function valueChoice({ id, curve, valueWidth }: LabelledLink): Choice<ValueSpot> {
  if (valueWidth === 0) return { spots: [], label: undefined };
  const boxOf = (spot: ValueSpot, width: number) => valueBox(valuePlace(curve, spot, width), width);
  const { spots, label } = choice('value', id, valueSpots, (spot) => boxOf(spot, valueWidth));
  const markAt = (place: number) => grown(boxOf(valueSpots[place] as ValueSpot, markWidth), gapPx);
  return { spots, label: label && { ...label, markAt } };
}

function choice<Spot>(kind: LabelToPlace['kind'], owner: string, spots: readonly Spot[], boxOf: (spot: Spot) => Box): Choice<Spot> {
  const boxAt = (place: number) => grown(boxOf(spots[place] as Spot), gapPx);
  const nowhere = { isCrowded: false, chosen: 0, cost: 0, box: undefined, thing: undefined };
  return { spots, label: { kind, owner, count: spots.length, boxAt, ...nowhere } };
}

/** Takes names of ports and values out where there is no room for them; the others choose again, then they may return. */
function makeRoom(board: Board, labels: readonly LabelToPlace[]): void {
  const crowded = labels.filter(({ kind, cost }) => kind !== 'name' && cost >= crowdedFrom);
  for (const label of crowded) {
    board.takeOut(label);
    label.isCrowded = true;
  }
  for (const label of labels) if (!label.isCrowded && label.cost >= costs.ownLine) board.choose(label);
  // Values first: a mark of them needs a place, too.
  for (const label of crowded.toSorted((one, other) => Number(other.kind === 'value') - Number(one.kind === 'value'))) {
    giveWay(board, label);
    if (label.isCrowded && label.markAt) board.choose(label, label.markAt);
  }
  for (const mark of crowded.filter(({ kind, isCrowded, cost }) => kind === 'value' && isCrowded && cost >= crowdedFrom))
    for (const port of labels.filter((label) => label.kind === 'port' && touches(label, mark))) giveWay(board, port);
}

const touches = (label: LabelToPlace, { box }: LabelToPlace): boolean =>
  label.thing !== undefined && label.box !== undefined && box !== undefined && overlaps(label.box, box);

/** Lets a label choose again; it is taken out where it finds no room. */
function giveWay(board: Board, label: LabelToPlace): void {
  board.choose(label);
  label.isCrowded = label.cost >= crowdedFrom;
  if (label.isCrowded) board.takeOut(label);
}

/** All obstacles, with the labels that are placed. */
class Board {
  readonly #grid = new NearGrid<Thing>();
  #visits = 0;

  addBox(kind: 'symbol' | 'text' | 'label', owner: string, box: Box): Thing {
    const thing: Thing = { kind, owner, box, seen: 0 };
    this.#grid.addBox(thing, box);
    return thing;
  }

  addLink({ id, nodes, curve }: LabelledLink): void {
    const points = pointsOf(curve);
    for (const [place, to] of points.entries()) {
      const from = points[place - 1];
      if (from) this.#grid.addLine({ kind: 'line', owner: id, nodes, from, to, seen: 0 }, from, to);
    }
  }

  /** Puts a label on its cheapest spot. */
  choose(label: LabelToPlace, boxAt = label.boxAt): void {
    this.takeOut(label);
    let best: { readonly place: number; readonly cost: number; readonly sum: number; readonly box: Box } | undefined;
    for (let place = 0; place < label.count && (!best || place * costs.step < best.sum); place += 1) {
      const box = boxAt(place);
      const cost = this.#costOf(label, box);
      const sum = cost + place * costs.step;
      if (!best || sum < best.sum) best = { place, cost, sum, box };
    }
    if (!best) return;
    label.chosen = best.place;
    label.cost = best.cost;
    label.box = best.box;
    label.thing = this.addBox('label', label.owner, best.box);
  }

  takeOut(label: LabelToPlace): void {
    if (label.thing && label.box) this.#grid.removeBox(label.thing, label.box);
    label.thing = undefined;
  }

  #costOf(label: LabelToPlace, box: Box): number {
    this.#visits += 1;
    let cost = 0;
    this.#grid.visit(box, (thing) => {
      if (thing.seen === this.#visits) return;
      thing.seen = this.#visits;
      if (thing.kind !== 'line') cost += overlaps(thing.box, box) ? costs[thing.kind] : 0;
      else if (crosses(box, thing.from, thing.to)) cost += lineCost(label, thing);
    });
    return cost;
  }
}

function lineCost({ kind, owner }: LabelToPlace, line: { readonly owner: string; readonly nodes: readonly string[] }): number {
  if (kind === 'name') return line.nodes.includes(owner) ? costs.ownLink : costs.foreign;
  if (line.owner !== owner) return costs.foreign;
  return kind === 'value' ? 0 : costs.ownLine;
}
