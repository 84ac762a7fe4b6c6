/** Numbers as the page writes them. */

export const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;

/** Three digits are enough for a figure that changes. */
export const short = (value: number) => (value === 0 ? '0' : Number(value.toPrecision(3)).toLocaleString('en'));
export const megabits = (kilobits: number) => (kilobits >= 1000 ? `${short(kilobits / 1000)} Mbit/s` : `${short(kilobits)} kbit/s`);

export const bitRate = (bits: number) =>
  bits >= 1e6 ? `${short(bits / 1e6)} Mbit/s` : bits >= 1e3 ? `${short(bits / 1e3)} kbit/s` : `${short(bits)} bit/s`;
