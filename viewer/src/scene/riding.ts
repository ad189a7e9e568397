// How the camera moves with a body: not at all, along with it, along and turning with its heading, or fixed to it as
// the driver's eyes or beside a wheel.

import { Box3, Quaternion, Vector3, type Group, type PerspectiveCamera } from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Tyre } from "../format";

export type Ride = "along" | "turning" | "driver" | "wheel";

const usualAngle = 32; // of the picture's height, degrees
const wideAngle = 58; // for the driver

/** The angle about `up` by which the body's x axis is turned. */
export function headingOf(rotation: Quaternion, up: Vector3): number {
  const ahead = new Vector3(1, 0, 0);
  const base = Math.abs(up.x) > 0.9 ? new Vector3(0, 1, 0) : ahead.clone();
  base.addScaledVector(up, -base.dot(up)).normalize();
  const side = new Vector3().crossVectors(up, base);
  const now = base.clone().applyQuaternion(rotation);
  return Math.atan2(now.dot(side), now.dot(base));
}

export class Rider {
  body = 0; // 0: the camera stands still
  ride: Ride = "along";
  private readonly position = new Vector3(); // of the body when the camera was moved last
  private heading = 0;
  private readonly eye = new Vector3(); // in body axes, when fixed to it
  private readonly look = new Vector3();
  private yaw = 0; // how far the reader looks round
  private pitch = 0;

  constructor(private readonly camera: PerspectiveCamera, private readonly controls: OrbitControls, private readonly up: Vector3, private readonly bodies: Group[]) {
    this.listen();
  }

  /** The camera is fixed to the body. */
  get fixed(): boolean {
    return this.body > 0 && (this.ride === "driver" || this.ride === "wheel");
  }

  private get group(): Group {
    return this.bodies[this.body] as Group;
  }

  /** From now on with this body, from where the camera is. */
  start(body: number, ride: Ride): void {
    this.body = body;
    this.ride = ride;
    this.yaw = this.pitch = 0;
    this.controls.enabled = !this.fixed;
    if (!this.fixed) {
      this.camera.up.copy(this.up);
      this.camera.fov = usualAngle;
    }
    if (body === 0) return;
    this.position.copy(this.group.position);
    this.heading = headingOf(this.group.quaternion, this.up);
  }

  /** Eyes of a driver inside of the body's box: left of the middle, in front in a train, high, looking ahead. */
  sit(box: Box3, ahead: Vector3): void {
    const size = box.getSize(new Vector3());
    const left = new Vector3().crossVectors(this.up, ahead);
    const extent = (axis: Vector3): number => Math.abs(axis.x) * size.x + Math.abs(axis.y) * size.y + Math.abs(axis.z) * size.z;
    const [long, high] = [extent(ahead), extent(this.up)];
    box.getCenter(this.eye).addScaledVector(ahead, long > 6 * high ? 0.5 * (long - high) : 0.02 * long).addScaledVector(left, 0.18 * extent(left)).addScaledVector(this.up, 0.4 * high);
    this.look.copy(ahead).addScaledVector(this.up, -0.12).multiplyScalar(Math.max(long, 1e-6));
    this.camera.fov = wideAngle;
  }

  /** Beside a wheel of the vehicle and a little behind it. */
  stand(tyre: Tyre, wheel: Group, ahead: Vector3): void {
    const back = this.group.quaternion.clone().invert();
    const middle = new Vector3(...tyre.position).applyQuaternion(wheel.quaternion).add(wheel.position).sub(this.group.position).applyQuaternion(back);
    const left = new Vector3().crossVectors(this.up, ahead);
    const outwards = middle.dot(left) >= 0 ? 1 : -1;
    this.look.copy(left).multiplyScalar(-3.6 * outwards * tyre.radius).addScaledVector(ahead, 2.6 * tyre.radius).addScaledVector(this.up, -0.9 * tyre.radius);
    this.eye.copy(middle).sub(this.look);
    this.camera.fov = usualAngle;
  }

  /** Moves the camera to where its body has gone. */
  step(): void {
    if (!this.body || !this.group.visible) return;
    if (this.fixed) return this.place();
    const { position, quaternion } = this.group;
    const turn = this.ride === "turning" ? headingOf(quaternion, this.up) : this.heading;
    for (const point of [this.camera.position, this.controls.target])
      point.sub(this.position).applyAxisAngle(this.up, turn - this.heading).add(position);
    this.position.copy(position);
    this.heading = turn;
    this.controls.update();
  }

  private place(): void {
    const { position, quaternion } = this.group;
    const left = new Vector3().crossVectors(this.up, this.look).normalize();
    const look = this.look.clone().applyAxisAngle(left, this.pitch).applyAxisAngle(this.up, this.yaw);
    this.camera.position.copy(this.eye).applyQuaternion(quaternion).add(position);
    this.camera.up.copy(this.up).applyQuaternion(quaternion);
    this.controls.target.copy(look).applyQuaternion(quaternion).add(this.camera.position);
    this.camera.lookAt(this.controls.target);
    this.camera.updateMatrixWorld();
  }

  /** Looking round and zooming while the camera is fixed to a body. */
  private listen(): void {
    const canvas = this.controls.domElement as HTMLElement;
    let from: [number, number] | null = null;
    const changed = (): void => this.controls.dispatchEvent({ type: "change" });
    canvas.addEventListener("pointerdown", (event) => {
      from = this.fixed ? [event.clientX, event.clientY] : null;
      if (from) canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from || !this.fixed) return;
      const angle = ((this.camera.fov * Math.PI) / 180) / canvas.clientHeight;
      this.yaw += (event.clientX - from[0]) * angle;
      this.pitch = Math.min(1.3, Math.max(-1.3, this.pitch - (event.clientY - from[1]) * angle));
      from = [event.clientX, event.clientY];
      changed();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (from = null));
    canvas.addEventListener("wheel", (event) => {
      if (!this.fixed) return;
      event.preventDefault();
      this.camera.fov = Math.min(90, Math.max(8, this.camera.fov * (event.deltaY > 0 ? 1.1 : 1 / 1.1)));
      changed();
    }, { passive: false });
  }
}
