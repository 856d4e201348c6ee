package com.acme;

import java.io.Serializable;

public interface Shape extends Serializable {
}
