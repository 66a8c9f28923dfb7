import { Socket } from 'node:net';
import { AppError } from '../../../core/errors.ts';

/** Blocks all connections of this process from now on. */
export function closeNetwork(): void {
  Socket.prototype.connect = function refuse(this: Socket): Socket {
    const message = 'The network is closed: this run can only use recorded results.';
    this.destroy(new AppError('refused', message));
    return this;
  };
}
