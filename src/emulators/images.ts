/** stub */
export type ImageType = 'qemu' | 'ios' | 'iou';
export interface ImageStore { readonly placeholder?: never }
